# How a profile may cut the library: the same programs with libraries cut so (cut_tables.cmake).
include(cut_tables.cmake)

foreach(cut hand limits wide)
  add_library(hakmem_${cut} SHARED ${library_sources})
  hakmem_configure(hakmem_${cut})
  target_include_directories(hakmem_${cut} PRIVATE ${library_folder})
  target_compile_definitions(hakmem_${cut} PRIVATE ${cut_${cut}})
  set(library $<TARGET_FILE:hakmem_${cut}>)
  foreach(name unit.every_size unit.alignments unit.calloc_is_zero unit.realloc_contents
               unit.no_leak stress.shadow_model stress.orphaned_blocks stress.remote_frees
               stress.ring_of_threads stress.warm_heaps process.fork_from_threads process.limited_start
               process.cold_blocks)
    # It wants little waste for every size, which a table of nine classes does not promise.
    if(cut STREQUAL limits AND name STREQUAL unit.every_size)
      continue()
    endif()
    string(REPLACE "." "_" program test_${name})
    add_test(NAME cut_${cut}.${name} COMMAND ${program})
    set_tests_properties(cut_${cut}.${name} PROPERTIES LABELS cuts TIMEOUT ${HAKMEM_TEST_TIMEOUT}
      ENVIRONMENT "LD_PRELOAD=${library};TEST_MALLOC_FROM=libhakmem_${cut}.so")
  endforeach()
endforeach()
