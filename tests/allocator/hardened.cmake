# The hardened variant runs the same programs. Some weigh memory: marks of a segment stay until all of
# it is free, and count where what is mapped does; docs/hardening.md says how much they are.
set_tests_properties(process.after_many_threads process.spike_returns process.limited_data
                     PROPERTIES DISABLED TRUE)

test_folder(hardened "${preloaded}" interface)

# What an option of it adds, and nothing else changes: with canaries, with guard pages, where what
# is freed becomes zero, and with all of it, where the address space grows by further ranges.
set(zero_freed HAKMEM_ZERO_FREED=1)
set(canaries HAKMEM_CANARIES=1)
set(guard_slabs HAKMEM_GUARD_SLABS=1)
set(all_options "HAKMEM_ZERO_FREED=1;HAKMEM_CANARIES=1;HAKMEM_GUARD_SLABS=1;HAKMEM_RESERVE=16")
set_property(TEST hardened.zero_freed APPEND PROPERTY ENVIRONMENT ${zero_freed})
set_property(TEST hardened.canaries APPEND PROPERTY ENVIRONMENT ${canaries})
set_property(TEST hardened.guard_slabs APPEND PROPERTY ENVIRONMENT ${guard_slabs})
foreach(option zero_freed canaries guard_slabs all_options)
  foreach(name hardened.other_addresses unit.calloc_is_zero unit.alignments stress.shadow_model
               stress.remote_frees stress.thread_churn interface.realloc_rules interface.cxx_forms interface.room
               interface.statistics
               process.thread_end process.before_main_after_exit process.fork_from_threads)
    string(REPLACE "." "_" program test_${name})
    add_test(NAME ${option}.${name} COMMAND ${program})
    set_tests_properties(${option}.${name} PROPERTIES LABELS stress TIMEOUT ${HAKMEM_TEST_TIMEOUT}
      ENVIRONMENT "${preloaded};HAKMEM_LIBRARY_PATH=${library_under_test};${${option}}")
  endforeach()
endforeach()

# Each misuse again, with canaries.
foreach(name IN LISTS misuse_programs)
  add_test(NAME canaries.misuse.${name}
           COMMAND expect_end "${canaries_${name}}" $<TARGET_FILE:test_misuse_${name}>)
  set_tests_properties(canaries.misuse.${name} PROPERTIES LABELS misuse TIMEOUT ${HAKMEM_TEST_TIMEOUT}
    ENVIRONMENT "${served_by};${not_by_the_clock};HAKMEM_LIBRARY_PATH=${library_under_test};${canaries}")
endforeach()
