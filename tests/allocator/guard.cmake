# The guard variant runs the same programs. Some of them look at what the guard changes on purpose:
# memory that is kept back, the handler for faults, blocks that one family of functions allocates and
# another frees. They run with that part switched off, and so test the options, too.
function(with_option option)
  foreach(name IN LISTS ARGN)
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT ${option})
  endforeach()
endfunction()

# Each block on pages of its own, where nothing weighs memory.
foreach(name unit.alignments unit.realloc_contents process.fork_from_threads
             process.before_main_after_exit interface.cxx_failure)
  string(REPLACE "." "_" program test_${name})
  add_test(NAME own_pages.${name} COMMAND ${program})
  set_tests_properties(own_pages.${name} PROPERTIES LABELS options TIMEOUT ${HAKMEM_TEST_TIMEOUT}
    ENVIRONMENT "${preloaded};HAKMEM_LIBRARY_PATH=${library_under_test};HAKMEM_GUARD_PAGES=1")
endforeach()

foreach(option HAKMEM_GUARD_QUARANTINE=0 HAKMEM_GUARD_SHUFFLE=0)
  with_option(${option} unit.no_leak process.after_many_threads interface.hak_names stress.orphaned_blocks stress.remote_frees
              process.limited_start process.limit_lowered_later process.soft_limit process.spike_returns
              process.purge_thread process.thread_end static.thread_end)
  if(HAKMEM_TEST_SANITIZERS)
    with_option(${option} guard_address.orphaned_blocks guard_address.remote_frees
                guard_thread.remote_frees)
  endif()
endforeach()
with_option(HAKMEM_GUARD_FAMILY=0 interface.cxx_forms static.cxx_forms)
with_option(HAKMEM_GUARD_FAULTS=0 process.leaves_no_trace)
# A large block stays where it is when the system refuses to take its wall down; this program frees
# some forty of them.
with_option(TEST_BLOCKS_MAY_STAY=160 faults.all_requests faults.every_site)
with_option(HAKMEM_GUARD_QUARANTINE=1 faults.every_site)
# Each place fails in the one; the other, by number of the call, is production's, too.
set_property(TEST faults.all_requests APPEND PROPERTY LABELS slow)
# So that its tables are refused, too.
with_option(HAKMEM_LEAKS=1 faults.every_site)

# Half of a block's room is enough for the guard to move it: who still uses the old pointer is found.
set_tests_properties(unit.realloc_stays PROPERTIES DISABLED TRUE)

# It has no blocks apart: one of 1 GiB lies in a range, costs tables and records, and is copied.
set_tests_properties(process.any_size process.growth_copies interface.gigabytes PROPERTIES DISABLED TRUE)

# A large block that is freed becomes a wall and loses its memory.
set_tests_properties(process.dense_huge process.asked_for_huge_pages process.buffers_whole process.sizes_in_turn
                     PROPERTIES DISABLED TRUE)

# Its quarantine holds blocks drawn at random: nearly all slabs of a class that was torn down have one.
set_tests_properties(process.threads_tear_down PROPERTIES DISABLED TRUE)

# Canaries and records cost memory, and walls mappings; docs/guard.md says how much.
set_tests_properties(unit.resident_cost process.idle_cost process.limited_data process.limited_threads
                     process.refused_then_purged process.many_mappings process.sleepers process.many_sleepers
                     process.many_sizes_asleep process.sleepers_in_turn process.sizes_by_threads PROPERTIES DISABLED TRUE)

test_folder(guard "${preloaded}" guard)

set_property(TEST guard.mappings_left APPEND PROPERTY ENVIRONMENT HAKMEM_GUARD_PAGES=1)

# It loads a library while it runs.
add_library(test_guard_holder MODULE guard/library/holder.c)
target_link_libraries(test_guard_holder PRIVATE hakmem_warnings)
set_property(TEST guard.leaks APPEND PROPERTY ENVIRONMENT TEST_HOLDER=$<TARGET_FILE:test_guard_holder>)

# Each block has borders of its own: a hint changes nothing.
set_tests_properties(process.cold_blocks PROPERTIES DISABLED TRUE)
