"""The child process: one request in, one answer out, noise kept apart, a crash turned into a fact.

`launch.py` is the parent's side; `child.py` is the script that runs in the child, under the interpreter of any
environment, whether xlacompare is installed there or not. A request names a task, a module of `tasks/`.
"""
