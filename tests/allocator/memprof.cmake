# What -fmemory-profile-use makes of a program, from its profile on: docs/install.md.
find_program(HAKMEM_MEMPROF_CLANG NAMES clang++-22 clang++-21 clang++-20 clang++-19 clang++)
find_program(HAKMEM_PROFDATA NAMES llvm-profdata-22 llvm-profdata-21 llvm-profdata-20 llvm-profdata-19
             llvm-profdata)
if(HAKMEM_VARIANT MATCHES "production|hardened" AND HAKMEM_MEMPROF_CLANG AND HAKMEM_PROFDATA)
  add_test(NAME memprof.walk COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/memprof/walk.sh
    ${HAKMEM_MEMPROF_CLANG} ${HAKMEM_PROFDATA} ${CMAKE_CURRENT_SOURCE_DIR}/memprof/walk.cpp
    ${library_under_test} ${CMAKE_CURRENT_BINARY_DIR}/memprof)
  set_tests_properties(memprof.walk PROPERTIES LABELS interface TIMEOUT ${HAKMEM_TEST_TIMEOUT}
                       SKIP_RETURN_CODE 77)
endif()
