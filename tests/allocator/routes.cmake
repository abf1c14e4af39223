# The routes that a profile may choose for its classes: the same programs with libraries built so.
# In `mixed` each class takes another route than its neighbours.
set(routes_hot_pool HAK_SMALL_ROUTE=HAK_ROUTE_HOT HAK_MEDIUM_ROUTE=HAK_ROUTE_POOL)
set(routes_list_large HAK_SMALL_ROUTE=HAK_ROUTE_ULTRA_LIST HAK_MEDIUM_ROUTE=HAK_ROUTE_LARGE)

# The table of classes with the routes dealt out in turn.
file(STRINGS ${library_folder}/base/classes.def class_rows REGEX "^HAK_CLASS")
set(dealt_rows "")
set(dealt 0)
foreach(row IN LISTS class_rows)
  string(REPLACE "HAK_SMALL_ROUTE" "HAK_DEALT_SMALL_${dealt}" row "${row}")
  string(REPLACE "HAK_MEDIUM_ROUTE" "HAK_DEALT_MEDIUM_${dealt}" row "${row}")
  string(APPEND dealt_rows "${row}\n")
  math(EXPR dealt "(${dealt} + 1) % 3")
endforeach()
set(dealt_table ${CMAKE_CURRENT_BINARY_DIR}/routes/dealt_classes.def)
file(CONFIGURE OUTPUT ${dealt_table} CONTENT "${dealt_rows}" @ONLY)
set(routes_dealt HAK_CLASS_TABLE="${dealt_table}"
    HAK_DEALT_SMALL_0=HAK_ROUTE_HOT HAK_DEALT_SMALL_1=HAK_ROUTE_ULTRA
    HAK_DEALT_SMALL_2=HAK_ROUTE_ULTRA_LIST HAK_DEALT_MEDIUM_0=HAK_ROUTE_MID
    HAK_DEALT_MEDIUM_1=HAK_ROUTE_POOL HAK_DEALT_MEDIUM_2=HAK_ROUTE_LARGE)

foreach(routes hot_pool list_large dealt)
  add_library(hakmem_${routes} SHARED ${library_sources})
  hakmem_configure(hakmem_${routes})
  target_include_directories(hakmem_${routes} PRIVATE ${library_folder})
  target_compile_definitions(hakmem_${routes} PRIVATE ${routes_${routes}})
  set(library $<TARGET_FILE:hakmem_${routes}>)
  foreach(name unit.every_size unit.alignments unit.calloc_is_zero unit.realloc_contents
               unit.no_leak stress.shadow_model stress.orphaned_blocks stress.remote_frees
               stress.ring_of_threads process.fork_from_threads process.limited_start)
    # It wants little waste for every size, which whole pages do not promise.
    if(NOT routes STREQUAL hot_pool AND name STREQUAL unit.every_size)
      continue()
    endif()
    string(REPLACE "." "_" program test_${name})
    add_test(NAME routes_${routes}.${name} COMMAND ${program})
    set_tests_properties(routes_${routes}.${name} PROPERTIES LABELS routes TIMEOUT 120
      ENVIRONMENT "LD_PRELOAD=${library};TEST_MALLOC_FROM=libhakmem_${routes}.so")
  endforeach()
endforeach()
