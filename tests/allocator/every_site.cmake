# Each call of the system's memory functions in the library's code, made to fail: the program
# faults/requests.c with a library of which no call is a jump (its place could not be told).
set(memory_calls hak_os_reserve hak_os_commit hak_os_purge hak_os_offer hak_os_map hak_os_remap hak_os_move_out hak_os_protect
    hak_os_unprotect hak_os_huge_pages mmap munmap mprotect madvise mremap mincore pthread_key_create
    pthread_setspecific pthread_atfork pthread_attr_init pthread_attr_setsigmask_np pthread_create)
inside_library(hakmem_every_site -fno-optimize-sibling-calls)
set(helpers support/check.c support/pattern.c support/threads.c support/memory.c)
add_executable(test_faults_every_site faults/every_site.c faults/requests.c ${helpers})
target_compile_definitions(test_faults_every_site PRIVATE _GNU_SOURCE)
target_compile_options(test_faults_every_site PRIVATE -O1 -g ${keep_calls}
  -include ${CMAKE_CURRENT_SOURCE_DIR}/support/hak_names.h)
target_link_libraries(test_faults_every_site PRIVATE hakmem_every_site Threads::Threads
                                                     ${CMAKE_DL_LIBS} hakmem_warnings)
target_link_options(test_faults_every_site PRIVATE -Wl,-u,hak_get_usage -Wl,-u,hak_policy_set)
foreach(call IN LISTS memory_calls)
  target_link_options(test_faults_every_site PRIVATE -Wl,--wrap=${call})
endforeach()
set_target_properties(test_faults_every_site PROPERTIES ENABLE_EXPORTS ON)
find_program(HAKMEM_OBJDUMP NAMES llvm-objdump-22 llvm-objdump-21 llvm-objdump-20 llvm-objdump-19
             llvm-objdump objdump REQUIRED)
# There is no spare run where address space is scarce; boxes.pages_spare lets those calls fail.
# thread_start and resident_bytes are helpers of the tests. The guard moves blocks, and makes them
# zero, itself; and its requests leave no slab with a tail that was used before.
# Only a range in a reservation, as in boxes.pages_range, has something in front to cut off.
# Not each user may lock all memory; process.locked_future does.
# process.stats_socket starts the thread that answers there.
# Nobody asks for a heap profile here: its tables are mapped once, by who asks (hak_profile_start), and
# process.sample_tails looks at what its samples keep.
# Nor for leaks, at the end of a program: process.leak_samples.
# Nor for the sampled guard, whose pool is mapped where the options are read.
# A whole page of slots is left in the magazines of a thread that sleeps: process.sleepers,
# process.many_sizes_asleep.
set(never_called hak_spare_purge hak_spare_release thread_start resident_bytes hak_os_reserve
    lock_on_fault make_writable hak_magazines_purge_armed hak_robbed_empty_some hak_server_start
    start_server body hak_answer answer_to send_page send_in hak_large_sample hak_sites_open hak_suspects_open hak_trap_open
    hak_trap_take hak_trap_give)
if(HAKMEM_VARIANT STREQUAL "guard")
  # A block that it kept back has seen so many faults of others by then that it never looks sparse.
  list(APPEND never_called move hak_large_allocate hak_slab_purge_tail hak_large_give)
  # It has no blocks apart.
  target_compile_definitions(test_faults_every_site PRIVATE TEST_APART=0)
  list(APPEND never_called hak_apart_take hak_apart_give hak_apart_resize hak_apart_take_over remap
       claim_for hak_apart_claim add_table mapped map hak_os_map hak_os_unmap hak_os_remap hak_os_move_out move_out
       could_be_backed)
endif()
# Nobody asks for zeroes or guard pages here: hardened.zero_freed and hardened.guard_slabs do.
if(HAKMEM_VARIANT STREQUAL "hardened")
  list(APPEND never_called zero_freed hak_guard_page_close hak_guard_page_open)
endif()
add_test(NAME faults.every_site
         COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/faults/every_site.sh
                 $<TARGET_FILE:test_faults_every_site> ${HAKMEM_OBJDUMP}
                 ${CMAKE_CURRENT_BINARY_DIR}/every_site ${never_called})
set_tests_properties(faults.every_site PROPERTIES LABELS "process;each_step" TIMEOUT ${HAKMEM_TEST_TIMEOUT}
                     SKIP_RETURN_CODE 77 ENVIRONMENT "TEST_MALLOC_FROM=libc.so")
