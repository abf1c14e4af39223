"""``python -m pipeline``: the same as the installed command."""

from pipeline.start import main

main()
