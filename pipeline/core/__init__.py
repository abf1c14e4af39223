"""What every stage stands on: errors, child processes, keys, locks and the console."""
