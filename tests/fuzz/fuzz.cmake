# The fuzzer (docs/fuzzing.md): programs of calls, checked against a model of what is allocated.
#   fuzz.replay      the corpus, and some programs of fixed seeds, one call at a time
#   fuzz.freely      programs of fixed seeds, all threads at once
#   fuzz.disturbed_* the same under ThreadSanitizer, whose schedules a seed disturbs
#   test_fuzz        libFuzzer, in the preset `fuzz` alone
set(fuzz ${PROJECT_SOURCE_DIR}/tests/fuzz)
set(fuzz_sources ${fuzz}/call.c ${fuzz}/blocks.c ${fuzz}/programs.c ${fuzz}/system.c
    ${fuzz}/threads.c ${fuzz}/perform.c ${fuzz}/mutate.c support/check.c)
set(wrapped_calls hak_os_now_ms hak_os_now_us hak_os_reserve hak_os_commit hak_os_purge
    hak_os_map hak_os_remap hak_os_move_out)

# fuzz_program(TARGET LIBRARY SOURCES...)
function(fuzz_program target library)
  add_executable(${target} ${fuzz_sources} ${ARGN})
  target_include_directories(${target} PRIVATE ${fuzz} ${library_folder})
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE HAK_REPLACE=0)
  target_compile_options(${target} PRIVATE -O1 -g ${keep_calls})
  target_link_libraries(${target} PRIVATE ${library} Threads::Threads ${CMAKE_DL_LIBS}
                                          hakmem_warnings)
  foreach(call IN LISTS wrapped_calls)
    target_link_options(${target} PRIVATE -Wl,--wrap=${call})
  endforeach()
endfunction()

function(fuzz_test name label program)
  add_test(NAME fuzz.${name} COMMAND ${program} ${ARGN})
  set_tests_properties(fuzz.${name} PROPERTIES LABELS "${label}" TIMEOUT 1200
                       ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0")
endfunction()

# The guard keeps large blocks back where the system refuses to take a wall down, so some would be
# left at the end of a program that lets calls fail.
if(HAKMEM_VARIANT STREQUAL "guard")
  return()
endif()

fuzz_program(test_fuzz_replay hakmem_every_site ${fuzz}/replay.c)
fuzz_test(replay "unit" test_fuzz_replay ${fuzz}/corpus --random 1 10)
fuzz_test(freely "stress" test_fuzz_replay --freely --random 1 10)

# Under ThreadSanitizer, with random schedules: disturb.c.
if(HAKMEM_TEST_SANITIZERS AND HAKMEM_VARIANT STREQUAL "production")
  fuzz_program(test_fuzz_disturbed hakmem_thread ${fuzz}/replay.c ${fuzz}/disturb.c)
  set_source_files_properties(${fuzz}/disturb.c PROPERTIES COMPILE_OPTIONS -fno-sanitize=thread)
  foreach(bits 8 32 64)
    foreach(operation load store exchange fetch_add fetch_sub compare_exchange_val
                      compare_exchange_strong compare_exchange_weak)
      target_link_options(test_fuzz_disturbed PRIVATE
                          -Wl,--wrap=__tsan_atomic${bits}_${operation})
    endforeach()
  endforeach()
  foreach(seed RANGE 1 21)
    set(labels sanitizer)
    set(count 8)
    if(seed GREATER 1)
      list(APPEND labels slow)
      set(count 40)
    endif()
    fuzz_test(disturbed_${seed} "${labels}" test_fuzz_disturbed --freely --random ${seed}000
              ${count})
    set_property(TEST fuzz.disturbed_${seed} APPEND PROPERTY ENVIRONMENT DISTURB=${seed})
  endforeach()
endif()

option(HAKMEM_FUZZ "Build the fuzzer, which needs clang and its libFuzzer" OFF)
if(HAKMEM_FUZZ)
  inside_library(hakmem_fuzzed -fsanitize=fuzzer-no-link,undefined -fno-sanitize-recover=all)
  fuzz_program(test_fuzz hakmem_fuzzed ${fuzz}/fuzz.c)
  target_link_options(test_fuzz PRIVATE -fsanitize=fuzzer,undefined -Wl,--wrap=_exit)
  # What it finds on its way stays in the build folder; it begins with that and the corpus.
  set(found ${CMAKE_CURRENT_BINARY_DIR}/fuzz_found)
  file(MAKE_DIRECTORY ${found})
  foreach(way in_turn freely)
    fuzz_test(half_hour_${way} "fuzz" test_fuzz ${found} ${fuzz}/corpus -max_len=1024 -len_control=0
              -max_total_time=900 -timeout=300 -rss_limit_mb=4096 -artifact_prefix=${found}-)
    set_tests_properties(fuzz.half_hour_${way} PROPERTIES TIMEOUT 3600)
  endforeach()
  set_property(TEST fuzz.half_hour_freely APPEND PROPERTY ENVIRONMENT FUZZ_FREELY=1)
endif()
