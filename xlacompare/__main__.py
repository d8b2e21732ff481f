"""`python -m xlacompare` is the script `xlacompare`."""

from xlacompare.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
