"""One module for each subcommand, each with two functions.

``configure(parser)`` declares the arguments, ``run(args)`` does the work and returns the exit code
(docs/exit-codes.md). A module is imported only when its command is asked for: ``COMMANDS`` of
:mod:`operate.cli` names them all.
"""
