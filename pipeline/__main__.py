"""``python -m pipeline``: the same as the installed command."""

from pipeline.cli import main

main()
