# The research variant: its counters, and libc forced. In the other builds: that neither is there.
set(expects_libc 0)
if(HAKMEM_VARIANT STREQUAL "research")
  set(expects_libc 1)
endif()
set(research_programs force_libc)
if(HAKMEM_VARIANT STREQUAL "research")
  list(APPEND research_programs counters)
endif()
foreach(name IN LISTS research_programs)
  test_program(test_research_${name} research/${name}.c)
  add_test(NAME research.${name} COMMAND test_research_${name})
  set_tests_properties(research.${name} PROPERTIES LABELS research TIMEOUT ${HAKMEM_TEST_TIMEOUT}
    ENVIRONMENT "${preloaded};HAKMEM_LIBRARY_PATH=${library_under_test};TEST_EXPECTS_LIBC=${expects_libc}")
endforeach()

if(HAKMEM_VARIANT STREQUAL "research")
  # What is counted by size stays together.
  set_tests_properties(process.cold_blocks interface.samples_lie_together PROPERTIES DISABLED TRUE)
  set_property(TEST research.counters APPEND PROPERTY ENVIRONMENT ${not_by_the_clock})
  # Heaps give their memory back though they count: what they counted is kept apart.
  set_property(TEST process.after_many_threads APPEND PROPERTY LABELS research)
  add_test(NAME research.printed
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/research/printed.sh ${library_under_test}
                   ${CMAKE_COMMAND} -E true)
  set_tests_properties(research.printed PROPERTIES LABELS research)
  foreach(name unit.alignments unit.calloc_is_zero unit.realloc_contents interface.malloc_calloc
               interface.cxx_forms interface.sized_free stress.shadow_model
               stress.ring_of_threads process.before_main_after_exit process.fork_threads
               process.cxx_thread_local)
    string(REPLACE "." "_" program test_${name})
    add_test(NAME force_libc.${name} COMMAND ${program})
    set_tests_properties(force_libc.${name} PROPERTIES LABELS research TIMEOUT ${HAKMEM_TEST_TIMEOUT}
      ENVIRONMENT "${preloaded};HAKMEM_LIBRARY_PATH=${library_under_test};HAKMEM_FORCE_LIBC=1")
  endforeach()
endif()

if(HAKMEM_VARIANT STREQUAL "production")
  find_program(HAKMEM_OBJDUMP NAMES llvm-objdump-22 llvm-objdump-21 llvm-objdump-20 llvm-objdump-19
               llvm-objdump objdump REQUIRED)
  add_test(NAME research.no_instruction
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/research/no_instruction.sh ${CMAKE_C_COMPILER}
                   ${HAKMEM_OBJDUMP} ${PROJECT_SOURCE_DIR}/allocator
                   ${CMAKE_CURRENT_BINARY_DIR}/no_instruction)
  set_tests_properties(research.no_instruction PROPERTIES LABELS research)
endif()
