# How a profile may cut the library: the same programs with libraries cut so (cut_tables.cmake).
include(cut_tables.cmake)

# cut_test(CUT FOLDER.NAME OPTIONS...): a test with the library cut so.
function(cut_test cut name)
  string(REPLACE "." "_" program test_${name})
  add_test(NAME cut_${cut}.${name} COMMAND ${program})
  set_tests_properties(cut_${cut}.${name} PROPERTIES LABELS cuts TIMEOUT ${HAKMEM_TEST_TIMEOUT} SKIP_RETURN_CODE 77
    ENVIRONMENT "LD_PRELOAD=$<TARGET_FILE:hakmem_${cut}>;TEST_MALLOC_FROM=libhakmem_${cut}.so;${ARGN}")
endfunction()

foreach(cut hand limits wide)
  add_library(hakmem_${cut} SHARED ${library_sources})
  hakmem_configure(hakmem_${cut})
  target_include_directories(hakmem_${cut} PRIVATE ${library_folder})
  target_compile_definitions(hakmem_${cut} PRIVATE ${cut_${cut}})
  foreach(name unit.every_size unit.alignments unit.calloc_is_zero unit.realloc_contents
               unit.no_leak stress.shadow_model stress.orphaned_blocks stress.remote_frees
               stress.ring_of_threads stress.warm_heaps process.fork_from_threads process.limited_start
               process.cold_blocks)
    # It wants little waste for every size, which a table of nine classes does not promise.
    if(cut STREQUAL limits AND name STREQUAL unit.every_size)
      continue()
    endif()
    cut_test(${cut} ${name})
  endforeach()
endforeach()

# Sizes that share a step of a table with those of another class.
foreach(cut limits wide)
  test_program(test_cuts_leads_away_${cut} cuts/leads_away.c)
  target_sources(test_cuts_leads_away_${cut} PRIVATE ${library_folder}/magazine/arm.c ${library_folder}/base/classes.c)
  target_include_directories(test_cuts_leads_away_${cut} PRIVATE ${library_folder})
  target_compile_definitions(test_cuts_leads_away_${cut} PRIVATE ${cut_${cut}} HAK_REPLACE=0)
  add_test(NAME cut_${cut}.leads_away COMMAND test_cuts_leads_away_${cut})
  set_tests_properties(cut_${cut}.leads_away PROPERTIES LABELS cuts TIMEOUT ${HAKMEM_TEST_TIMEOUT}
                       ENVIRONMENT "TEST_MALLOC_FROM=libc.so")
endforeach()

# Where malloc counts on its hot path: what is picked there, with a block in hand and without.
foreach(cut hand limits)
  cut_test(${cut} interface.heap_profile)
  cut_test(${cut} process.sampled_guard HAKMEM_GUARD_SAMPLE=1)
  cut_test(${cut} process.sample_tails ${not_by_the_clock})
  cut_test(${cut} process.profile_at_peaks HAKMEM_PROFILE_RATE=4096 HAKMEM_PROFILE_PEAK=25)
  cut_test(${cut} process.profile_while_running)
  cut_test(${cut} process.leak_samples)
  cut_test(${cut} interface.cxx_forms ${some_guarded})
  cut_test(${cut} stress.thread_churn ${some_guarded})
endforeach()
