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
count(by_canaries canaries)
count(by_guard guard)

set(text "# Which build catches what

**For people whose program ended with a line of hakmem, and for reviewers.** Look up here what the line means, which build finds
which misuse of memory, and when. Then you can tell what could still be hidden. The [glossary](glossary.md) explains the words.

The line on stderr is `hakmem: <what>: <function>(<address>): <why>`.

| what | means |
| --- | --- |
| `invalid pointer` | no malloc of this process returned the pointer, or it leads into a large block |
| `invalid free` | the pointer leads into a small block, not to its start, or to a block that nobody got |
| `double free` | the block is free already |
| `heap corruption` | a write hit what the allocator keeps, mostly in a freed block |
| `overflow`, `underflow` | bytes behind or in front of a block were used |
| `use after free` | a freed block was read or written |
| `mismatched free` | the free does not fit the allocation: malloc and delete, another size or alignment |
| `out of memory` | `operator new` failed, in a program without a C++ runtime that could throw |

Production names the call that noticed, which may come long after the mistake. Run the program with the [guard](guard.md) to learn
where it was made; it is slower. [operations.md](operations.md#debug) has the steps.

## When it is found

**The guard** finds it at the call itself. It finds overflow and writes after free when the block is freed, when it leaves the
quarantine, or when the program ends.

**The [hardened](hardening.md) build** finds at the call every free, realloc and question for the size that is not of a block in
use. Threads that free one block at the same moment are the exception: that is found later. With `HAKMEM_CANARIES=1` it also finds
what was written right behind a block of up to 64 KiB, when the block is freed, resized or asked for its size.

**Production** finds pointers that are foreign, or into large blocks, at the call itself. It finds what concerns small blocks (up
to 64 KiB) when the thread's magazine of that size is emptied. By then a block that was freed twice may have been handed out
twice. A program that ends before, or stops using the size, sees nothing. Research builds end like production.

## What is found

Each row is a program of `tests/allocator/misuse/`, run in each build by `ctest -L misuse`. It ends with that line and SIGABRT, or
by SIGSEGV (`fault`), or goes on to its end (*not noticed*). The programs go on with a size until the magazine is emptied.
Of these ${all} programs production ends ${by_production}, the hardened build ${by_hardened},
${by_canaries} with canaries, the guard ${by_guard}.

`tests/allocator/misuse/expected.cmake` has the whole lines, and makes this page:
`cmake -DOUT=docs/misuse.md -P tests/allocator/misuse/print_table.cmake`.

| misuse | program | production | hardened | with canaries | guard |
| --- | --- | --- | --- | --- | --- |
")
foreach(program IN LISTS expected_programs)
  cell(production "${production_what_${program}}")
  cell(hardened "${hardened_what_${program}}")
  cell(canaries "${canaries_what_${program}}")
  cell(guard "${guard_what_${program}}")
  string(APPEND text
         "| ${does_${program}} | `${program}` | ${production} | ${hardened} | ${canaries} | ${guard} |\n")
endforeach()
file(WRITE "${OUT}" "${text}")
