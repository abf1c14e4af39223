"""Lets ``python -m bench.harness.programs`` run the command."""

from bench.harness.programs.command import main
from pipeline.core import interrupts

interrupts.install()
main(prog_name="bench/programs")
