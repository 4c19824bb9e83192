"""`python -m racelint`."""

from racelint.cli import main

main()
