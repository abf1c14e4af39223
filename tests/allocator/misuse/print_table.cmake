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

# How many of the programs a build ends.
function(count variable build)
  set(found 0)
  foreach(program IN LISTS expected_programs)
    if(NOT "${${build}_what_${program}}" STREQUAL "")
      math(EXPR found "${found} + 1")
    endif()
  endforeach()
  set(${variable} ${found} PARENT_SCOPE)
endfunction()
list(LENGTH expected_programs all)
count(by_production production)
count(by_hardened hardened)
count(by_guard guard)

set(text "# Which build catches what

**For people whose program ended with a line of hakmem, and for reviewers.** Look up here which build finds which misuse of
memory, and when; then you can tell what a line means and what could still be hidden.

The line on stderr is `hakmem: <what>: <function>(<address>): <why>`. Each row below is a program of
`tests/allocator/misuse/`, run in each build by `ctest -L misuse`. It must end with that line and SIGABRT, or by SIGSEGV
(`fault`), or run to its end. The table is made from `tests/allocator/misuse/expected.cmake`, which has the whole lines:
`cmake -DOUT=docs/misuse.md -P tests/allocator/misuse/print_table.cmake`. Research builds end like production.
[guard.md](guard.md) says what the guard costs.

## When it is found

The guard finds it at the call itself. It finds overflow and writes after free when the block is freed, when it leaves the
quarantine, or when the program ends.

The [hardened](hardening.md) build finds at the call every free, realloc and question for the size that is not of a block in use.
Threads that free one block at the same moment are the exception: that is found later.

Production finds pointers that are foreign, or into large blocks, at the call itself. It finds what concerns small blocks (up
to 64 KiB) when the thread's magazine of that size is emptied. A program that ends before, or uses the size no more, sees
nothing; these programs go on with the size until the magazine is emptied. By then a block that was freed twice may have been
handed out twice.

## What is found

Of these ${all} programs production ends ${by_production}, the hardened build ${by_hardened}, the guard ${by_guard}.

| misuse | program | production | hardened | guard |
| --- | --- | --- | --- | --- |
")
foreach(program IN LISTS expected_programs)
  cell(production "${production_what_${program}}")
  cell(hardened "${hardened_what_${program}}")
  cell(guard "${guard_what_${program}}")
  string(APPEND text
         "| ${does_${program}} | `${program}` | ${production} | ${hardened} | ${guard} |\n")
endforeach()
file(WRITE "${OUT}" "${text}")
