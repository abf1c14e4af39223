# Writes docs/misuse.md from the list: cmake -DOUT=docs/misuse.md -P tests/allocator/misuse/print_table.cmake
include(${CMAKE_CURRENT_LIST_DIR}/expected.cmake)

function(cell variable words)
  string(REPLACE "|" "` or `" words "${words}")
  if(words STREQUAL "")
    set(${variable} "not noticed" PARENT_SCOPE)
  else()
    set(${variable} "`${words}`" PARENT_SCOPE)
  endif()
endfunction()

set(text "# Which build catches what

Each row is a program of `tests/allocator/misuse/`, run in each build by `ctest -L misuse`: it must end
with one line on stderr, `hakmem: <what>: <function>(<address>): <why>`, and SIGABRT, or by SIGSEGV (`fault`), or
else run to its end. The table is made from `tests/allocator/misuse/expected.cmake`, which has the whole lines:
`cmake -DOUT=docs/misuse.md -P tests/allocator/misuse/print_table.cmake`. Research builds end like
production; [guard.md](guard.md) says what the guard costs.

*When* it is found: by the guard at the call itself; overflow and writes after free when the block is freed,
leaves the quarantine, or the program ends. In production pointers that are foreign, or into large blocks, at the call
itself; what concerns small blocks (up to 64 KiB) when the thread's magazine of that size is emptied, which a program
that ends before, or uses the size no more, does not see: these programs go on with the size until it is. By then a
block that was freed twice may have been handed out twice; the guard finds it at the second free.

| misuse | program | production | guard |
| --- | --- | --- | --- |
")
foreach(program IN LISTS expected_programs)
  cell(production "${production_what_${program}}")
  cell(guard "${guard_what_${program}}")
  string(APPEND text
         "| ${does_${program}} | `${program}` | ${production} | ${guard} |\n")
endforeach()
file(WRITE "${OUT}" "${text}")
