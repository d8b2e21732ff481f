"""What a child can be asked to do: a module each, with `run(request, reporter) -> dict`.

Everything here keeps to Python 3.9 and imports a framework through `xlacompare.frameworks` alone.
"""
