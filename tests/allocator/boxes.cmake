# Each box by itself: programs that include the library's own headers and link its sources, under
# the hak_ names alone (HAK_REPLACE=0). They are named after the folder and file that they test.
inside_library(hakmem_boxes)
target_include_directories(hakmem_boxes PUBLIC ${library_folder})
target_compile_definitions(hakmem_boxes INTERFACE _GNU_SOURCE HAK_REPLACE=0 HAK_SLOWDOWN=0)

file(GLOB box_sources CONFIGURE_DEPENDS boxes/*.c)
foreach(source IN LISTS box_sources)
  get_filename_component(name ${source} NAME_WE)
  test_program(test_boxes_${name} ${source})
  target_link_libraries(test_boxes_${name} PRIVATE hakmem_boxes)
  add_test(NAME boxes.${name} COMMAND test_boxes_${name})
  set_tests_properties(boxes.${name} PROPERTIES LABELS unit TIMEOUT ${HAKMEM_TEST_TIMEOUT}
                       SKIP_RETURN_CODE 77 ENVIRONMENT "TEST_MALLOC_FROM=libc.so")
endforeach()

set_property(TEST boxes.magazine_mode boxes.pages_growth APPEND PROPERTY ENVIRONMENT
             ${not_by_the_clock})

# It stops at each instruction, as faults.every_site fails at each call.
set_property(TEST boxes.pages_mend APPEND PROPERTY LABELS each_step)

# The library's calls of the system, led through the test.
target_link_options(test_boxes_os_page_sizes PRIVATE -Wl,--wrap=hak_os_page_size
  -Wl,--wrap=hak_os_reserve -Wl,--wrap=hak_os_commit -Wl,--wrap=hak_os_purge
  -Wl,--wrap=hak_os_resident)
target_link_options(test_boxes_os_clock PRIVATE -Wl,--wrap=getauxval)
target_link_options(test_boxes_pages_apart PRIVATE -Wl,--wrap=hak_os_remap)
target_link_options(test_boxes_pages_dense PRIVATE -Wl,--wrap=hak_os_resident)
target_link_options(test_boxes_pages_range PRIVATE -Wl,--wrap=hak_os_plan)
target_link_options(test_boxes_pages_spare PRIVATE -Wl,--wrap=hak_os_purge)
target_link_options(test_boxes_reclaim_trim PRIVATE -Wl,--wrap=hak_os_purge)
target_link_options(test_boxes_heap_seat PRIVATE -Wl,--wrap=hak_os_purge)
target_link_options(test_boxes_reclaim_background PRIVATE -Wl,--wrap=hak_policy_now -Wl,--wrap=hak_os_wait)
target_link_options(test_boxes_limits_limit PRIVATE -Wl,--wrap=hak_os_now_ms)
target_link_options(test_boxes_reclaim_delays PRIVATE -Wl,--wrap=hak_os_now_ms)
target_link_options(test_boxes_reclaim_teardown PRIVATE -Wl,--wrap=hak_os_now_ms)

# Who reads the policy while it changes: also where ThreadSanitizer looks on.
if(HAKMEM_TEST_SANITIZERS)
  test_program(test_thread_policy_snapshot boxes/policy_snapshot.c)
  target_include_directories(test_thread_policy_snapshot PRIVATE ${library_folder})
  target_compile_definitions(test_thread_policy_snapshot PRIVATE HAK_REPLACE=0 HAK_SLOWDOWN=0)
  target_link_libraries(test_thread_policy_snapshot PRIVATE hakmem_thread)
  add_test(NAME thread.policy_snapshot COMMAND test_thread_policy_snapshot)
  set_tests_properties(thread.policy_snapshot PROPERTIES LABELS sanitizer TIMEOUT ${HAKMEM_TEST_TIMEOUT}
                       ENVIRONMENT "TEST_MALLOC_FROM=/")
endif()
