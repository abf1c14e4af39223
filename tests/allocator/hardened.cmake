# The hardened variant runs the same programs. Some weigh memory: marks of a segment stay until all of
# it is free, and count where what is mapped does; docs/hardening.md says how much they are.
set_tests_properties(process.after_many_threads process.spike_returns process.limited_data
                     PROPERTIES DISABLED TRUE)

test_folder(hardened "${preloaded}" interface)
