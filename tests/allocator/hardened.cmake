# The hardened variant runs the same programs. Two weigh what is left when memory was given back: marks
# of a segment stay until all of it is free; docs/hardening.md says how much they are.
set_tests_properties(process.after_many_threads process.spike_returns PROPERTIES DISABLED TRUE)
