"""Lets ``python -m bench.harness.servers`` run the command."""

from bench.harness.servers.command import main
from pipeline.core import interrupts

interrupts.install()
main(prog_name="bench/servers")
