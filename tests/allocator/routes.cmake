# How a profile may cut the library: the same programs with libraries built so. In `dealt` each class
# takes another route than its neighbours; in `limits` all is at the least or the most that is legal;
# `wide` has pages of 128 KiB, and so no class below 32 bytes.
set(routes_hot_pool HAK_SMALL_ROUTE=HAK_ROUTE_HOT HAK_MEDIUM_ROUTE=HAK_ROUTE_POOL)
set(routes_list_large HAK_SMALL_ROUTE=HAK_ROUTE_ULTRA_LIST HAK_MEDIUM_ROUTE=HAK_ROUTE_LARGE)

include(dealt_routes.cmake)
include(cut_tables.cmake)

foreach(routes hot_pool list_large dealt limits wide)
  add_library(hakmem_${routes} SHARED ${library_sources})
  hakmem_configure(hakmem_${routes})
  target_include_directories(hakmem_${routes} PRIVATE ${library_folder})
  target_compile_definitions(hakmem_${routes} PRIVATE ${routes_${routes}})
  set(library $<TARGET_FILE:hakmem_${routes}>)
  foreach(name unit.every_size unit.alignments unit.calloc_is_zero unit.realloc_contents
               unit.no_leak stress.shadow_model stress.orphaned_blocks stress.remote_frees
               stress.ring_of_threads stress.warm_heaps process.fork_from_threads process.limited_start)
    # It wants little waste for every size, which whole pages do not promise.
    if(NOT routes STREQUAL hot_pool AND name STREQUAL unit.every_size)
      continue()
    endif()
    string(REPLACE "." "_" program test_${name})
    add_test(NAME routes_${routes}.${name} COMMAND ${program})
    set_tests_properties(routes_${routes}.${name} PROPERTIES LABELS routes TIMEOUT ${HAKMEM_TEST_TIMEOUT}
      ENVIRONMENT "LD_PRELOAD=${library};TEST_MALLOC_FROM=libhakmem_${routes}.so")
  endforeach()
endforeach()
