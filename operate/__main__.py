"""``python -m operate``: the same as the installed command."""

from operate.cli import main

main()
