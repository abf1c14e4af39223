# The library's sources and some test programs, built together by each sanitizer. Sanitizers bring
# a malloc of their own, so the library keeps to its hak_ names here (HAK_REPLACE=0) and the
# programs are led to them by support/hak_names.h.
option(HAKMEM_TEST_SANITIZERS "Build and run the sanitizer tests" ON)
set(sanitizers address thread undefined)
set(sanitized_programs stress/shadow_model stress/ring_of_threads stress/remote_frees
    stress/orphaned_blocks unit/alignments unit/calloc_is_zero)

function(sanitized_library target sanitizer)
  add_library(${target} STATIC ${library_sources})
  target_include_directories(${target} PRIVATE ${library_folder}
                             PUBLIC ${library_folder}/include)
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE HAK_REPLACE=0 HAK_SLOWDOWN=0
                             HAK_VERSION="${PROJECT_VERSION}")
  target_compile_options(${target} PUBLIC -fsanitize=${sanitizer} -fno-sanitize-recover=all
                                          -fno-omit-frame-pointer -O1 -g
                                   PRIVATE ${keep_calls} -Wno-unused-function)
  target_link_options(${target} PUBLIC -fsanitize=${sanitizer})
endfunction()

foreach(sanitizer IN LISTS sanitizers)
  if(NOT HAKMEM_TEST_SANITIZERS)
    break()
  endif()
  sanitized_library(hakmem_${sanitizer} ${sanitizer})
  foreach(program IN LISTS sanitized_programs)
    get_filename_component(name ${program} NAME)
    set(target test_${sanitizer}_${name})
    add_executable(${target} ${program}.c)
    target_compile_options(${target} PRIVATE
                           -include ${CMAKE_CURRENT_SOURCE_DIR}/support/hak_names.h)
    target_link_libraries(${target} PRIVATE hakmem_${sanitizer} test_support)
    add_test(NAME ${sanitizer}.${name} COMMAND ${target})
    # The programs use hak_malloc; what serves malloc itself is the sanitizer's affair.
    set_tests_properties(${sanitizer}.${name} PROPERTIES LABELS sanitizer TIMEOUT 120
                         ENVIRONMENT "TEST_MALLOC_FROM=/")
  endforeach()
endforeach()
