# Decisions by bytes that nobody has written, in the test programs and in the library: some of the
# programs under valgrind's memcheck. What weighs resident memory is not among them, memcheck's own
# would be counted; what sets up its process in unusual ways neither. Those that take longer run with
# the slow ones. (memory_sanitizer.cmake looks at the contents of blocks, too.)
set(checked unit.alignments unit.realloc_stays interface.aligned interface.aligned_alloc_rules
    interface.cxx_forms interface.hak_names interface.introspection interface.malloc_calloc
    interface.realloc_rules interface.sized_free stress.large_churn stress.structures
    stress.warm_heaps process.before_main_after_exit process.core_files process.cxx_thread_local
    process.leaves_no_trace)
set(checked_slowly unit.calloc_is_zero unit.every_size unit.no_leak unit.realloc_contents
    stress.remote_frees stress.ring_of_threads stress.shadow_model stress.thread_churn
    process.exit_while_busy)

foreach(name IN LISTS checked checked_slowly)
  string(REPLACE "." "_" program test_${name})
  add_test(NAME memcheck.${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/runners/under_valgrind.sh
                                         memcheck ${HAKMEM_OBJCOPY} $<TARGET_FILE:${program}>)
  set_tests_properties(memcheck.${name} PROPERTIES LABELS valgrind TIMEOUT ${HAKMEM_TEST_TIMEOUT}
    SKIP_RETURN_CODE 77
    ENVIRONMENT "${served_by};HAKMEM_LIBRARY_PATH=${library_under_test};${not_by_the_clock}")
endforeach()
foreach(name IN LISTS checked_slowly)
  set_property(TEST memcheck.${name} APPEND PROPERTY LABELS slow)
endforeach()
