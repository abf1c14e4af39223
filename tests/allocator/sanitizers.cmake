# The library's sources and some test programs, built together by each sanitizer. Sanitizers bring
# a malloc of their own, so the library keeps to its hak_ names here (HAK_REPLACE=0) and the
# programs are led to them by support/hak_names.h.
option(HAKMEM_TEST_SANITIZERS "Build and run the sanitizer tests" ON)
option(HAKMEM_TEST_CUT_SANITIZERS "Also with libraries that are cut in other ways" ON)
set(threaded_programs stress/shadow_model stress/ring_of_threads stress/remote_frees
    stress/large_churn stress/statistics_meanwhile process/fork_from_threads)
set(sanitized_programs ${threaded_programs} stress/orphaned_blocks unit/alignments
    unit/calloc_is_zero)

# A program asks for hak_validate by its name at run time: support/invariants.c.
function(sanitized_program flavour program)
  get_filename_component(name ${program} NAME)
  set(target test_${flavour}_${name})
  add_executable(${target} ${program}.c)
  target_compile_options(${target} PRIVATE
                         -include ${CMAKE_CURRENT_SOURCE_DIR}/support/hak_names.h)
  set(support test_support)
  if(TARGET test_support_${flavour})
    set(support test_support_${flavour})
  endif()
  target_link_libraries(${target} PRIVATE hakmem_${flavour} ${support})
  target_link_options(${target} PRIVATE -Wl,-u,hak_validate)
  set_target_properties(${target} PROPERTIES ENABLE_EXPORTS ON)
  add_test(NAME ${flavour}.${name} COMMAND ${target})
  # The programs use hak_malloc; what serves malloc itself is the sanitizer's affair. So is its search
  # for leaks, which sees none of our blocks and hangs in children of gcc 12's: its own lock was held
  # by a thread that fork left behind.
  set_tests_properties(${flavour}.${name} PROPERTIES LABELS sanitizer TIMEOUT ${HAKMEM_TEST_TIMEOUT}
                       ENVIRONMENT "TEST_MALLOC_FROM=/;ASAN_OPTIONS=detect_leaks=0")
endfunction()

# sanitized(FLAVOUR SANITIZERS SHARE DEFINITIONS...): the programs, which do 1/SHARE of their work,
# with a library built so.
function(sanitized flavour sanitizers share)
  set(flags -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  inside_library(hakmem_${flavour} ${flags})
  target_compile_options(hakmem_${flavour} INTERFACE ${flags} -O1 -g -DTEST_SHARE=${share})
  target_link_options(hakmem_${flavour} INTERFACE ${flags})
  foreach(part hakmem_${flavour} hakmem_${flavour}_gate)
    if(TARGET ${part})
      target_compile_definitions(${part} PRIVATE ${ARGN})
    endif()
  endforeach()
  foreach(program IN LISTS sanitized_programs)
    sanitized_program(${flavour} ${program})
  endforeach()
endfunction()

if(NOT HAKMEM_TEST_SANITIZERS)
  return()
endif()
if(HAKMEM_VARIANT STREQUAL "production")
  include(cut_tables.cmake)
  sanitized(address address 1)
  sanitized(thread thread 4)
  sanitized(undefined undefined 1)
  if(CMAKE_C_COMPILER_ID STREQUAL "Clang")
    include(memory_sanitizer.cmake)
  endif()
  if(HAKMEM_TEST_CUT_SANITIZERS)
    set(sanitized_programs ${threaded_programs})
    sanitized(hand_address address,undefined 4 ${cut_hand})
    sanitized(hand_thread thread 10 ${cut_hand})
  endif()
elseif(HAKMEM_VARIANT STREQUAL "guard")
  sanitized(guard_address address,undefined 10)
  set(sanitized_programs ${threaded_programs} process/exit_while_busy)
  sanitized(guard_thread thread 20)
endif()
