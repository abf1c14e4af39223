# Reads of what nobody has written, in the test programs and in the library: clang's MemorySanitizer
# must see each write, so what the programs share is compiled with it, too. It knows nothing of our
# blocks; support/hak_names.h tells it that what malloc gives has no value. (memcheck.cmake looks at
# the library as it is, and at what the system writes.)
set(flags -fsanitize=memory -fno-sanitize-recover=all -fno-omit-frame-pointer)
add_library(test_support_memory OBJECT ${support_sources})
target_compile_definitions(test_support_memory PUBLIC _GNU_SOURCE TEST_VERSION="${PROJECT_VERSION}")
target_compile_options(test_support_memory PUBLIC -O1 -g ${keep_calls} ${flags})
target_include_directories(test_support_memory PUBLIC ${PROJECT_SOURCE_DIR}/allocator/include)
target_link_libraries(test_support_memory PUBLIC Threads::Threads ${CMAKE_DL_LIBS}
                                          PRIVATE hakmem_warnings)

# Not among them: what needs a library that is preloaded, weighs resident memory, or limits memory.
set(other_programs ${sanitized_programs})
set(sanitized_programs unit/alignments unit/calloc_is_zero unit/no_leak unit/realloc_contents
    unit/realloc_stays interface/hak_names interface/malloc_calloc stress/large_churn
    stress/orphaned_blocks stress/remote_frees stress/ring_of_threads stress/shadow_model
    stress/structures stress/thread_churn process/children process/exit_while_busy
    process/fork_from_threads process/fork_handlers process/small_stacks process/thread_end)
sanitized(memory memory 10)
# Seconds of work, most of it the test's own; memory.shadow_model moves contents, too.
set_property(TEST memory.realloc_contents APPEND PROPERTY LABELS slow)
set(sanitized_programs ${other_programs})
