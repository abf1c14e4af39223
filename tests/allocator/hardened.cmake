# The hardened variant runs the same programs. Some weigh memory: marks of a segment stay until all of
# it is free, and count where what is mapped does; docs/hardening.md says how much they are.
set_tests_properties(process.after_many_threads process.spike_returns process.limited_data
                     PROPERTIES DISABLED TRUE)

test_folder(hardened "${preloaded}" interface)

# What is freed becomes zero, and nothing else changes.
set(zero_freed HAKMEM_ZERO_FREED=1)
set_property(TEST hardened.zero_freed APPEND PROPERTY ENVIRONMENT ${zero_freed})
foreach(name unit.calloc_is_zero stress.shadow_model stress.remote_frees
             stress.thread_churn interface.realloc_rules interface.cxx_forms)
  string(REPLACE "." "_" program test_${name})
  add_test(NAME zero_freed.${name} COMMAND ${program})
  set_tests_properties(zero_freed.${name} PROPERTIES LABELS stress TIMEOUT ${HAKMEM_TEST_TIMEOUT}
    ENVIRONMENT "${preloaded};HAKMEM_LIBRARY_PATH=${library_under_test};${zero_freed}")
endforeach()
