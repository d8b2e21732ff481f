"""The command line: a small module a command, with arguments in, one library call, one report out.

A command's module has `SUMMARY`, `add_arguments(parser)` and `run(arguments) -> exit code`. What it needs to do its
work it imports in `run`: `--help` and the commands that only read text must start at once.
"""
