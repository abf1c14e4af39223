"""Tables of docs/results that one command can make again: bench/result."""
