# The list of misuses: what each program of this folder does, and how it must end in each build.
# Every program has its row here and every row its program; the test folder checks that, and
# docs/misuse.md is made from this list.
#
#   misuse(PROGRAM "what it does" PRODUCTION end [HARDENED end] [CANARIES end] GUARD end)
#
# Hardened builds end like production where the row does not say otherwise, and with HAKMEM_CANARIES=1
# like hardened builds; research builds always end like production.
# An end is `unnoticed`, `fault` (SIGSEGV, without a word), or three words: the line "hakmem: <what>: <function>(<address>): <why>", of
# which <what> and <why> are regular expressions. The variable `why` is set anew for each group of
# rows: a row that uses it sets it right in front, whatever an earlier row left there.
set(foreign "no allocation of this process returned it")
set(inside_large "inside a large block, not its start")
set(not_a_start "not the start of a block")
set(pages_free "its pages are free already")
set(is_free "the block is free already")
# Which of these depends on where the second free finds the block: in the cache, in a slab that still
# has others, in a slab that went back, in one that was made in its place.
set(block_free "${is_free}|it is the block freed last|its slab is empty already|")
string(APPEND block_free "its slab is a new one by now|${pages_free}")

macro(behind variable byte size)
  set(${variable} "byte ${byte} was written to, of a block of ${size} bytes")
endmacro()
macro(after_free variable byte size)
  set(${variable} "byte ${byte} was written to after the free of a block of ${size} bytes")
endmacro()

function(misuse program does)
  cmake_parse_arguments(PARSE_ARGV 2 ends "" "" "PRODUCTION;HARDENED;CANARIES;GUARD")
  if(NOT DEFINED ends_HARDENED)
    set(ends_HARDENED ${ends_PRODUCTION})
  endif()
  if(NOT DEFINED ends_CANARIES)
    set(ends_CANARIES ${ends_HARDENED})
  endif()
  set(expected_programs ${expected_programs} ${program} PARENT_SCOPE)
  set(does_${program} "${does}" PARENT_SCOPE)
  foreach(build PRODUCTION HARDENED CANARIES GUARD)
    string(TOLOWER ${build} lower)
    list(LENGTH ends_${build} words)
    if(ends_${build} STREQUAL "unnoticed")
      set(pattern unnoticed)
      set(what "")
    elseif(ends_${build} STREQUAL "fault")
      set(pattern fault)
      set(what "fault")
    elseif(words EQUAL 3)
      list(GET ends_${build} 0 what)
      list(GET ends_${build} 1 function)
      list(GET ends_${build} 2 why)
      set(pattern "^hakmem: (${what}): ${function}\\(0x[0-9a-f]+\\): (${why})$")
    else()
      message(FATAL_ERROR "${program}: ${build} needs `unnoticed`, `fault` or what, function and why")
    endif()
    set(${lower}_${program} "${pattern}" PARENT_SCOPE)
    set(${lower}_what_${program} "${what}" PARENT_SCOPE)
  endforeach()
endfunction()

# The same end in all builds.
macro(misuse_everywhere program does)
  misuse(${program} "${does}" PRODUCTION ${ARGN} GUARD ${ARGN})
endmacro()

misuse_everywhere(free_stack "free of a local variable" "invalid pointer" free "${foreign}")
misuse_everywhere(free_global "free of a global variable" "invalid pointer" free "${foreign}")
misuse_everywhere(free_literal "free of a string literal" "invalid pointer" free "${foreign}")
misuse_everywhere(free_mapped "free of memory from mmap" "invalid pointer" free "${foreign}")
misuse_everywhere(free_unmapped "free of an address where nothing is" "invalid pointer" free "${foreign}")
misuse_everywhere(free_beyond_user_space "free of an address that no program has"
                  "invalid pointer" free "${foreign}")
misuse_everywhere(free_untouched_range "free of an address in our reserve" "invalid pointer" free "${foreign}")
misuse_everywhere(realloc_stack "realloc of a local variable" "invalid pointer" realloc "${foreign}")
misuse_everywhere(usable_size_global "malloc_usable_size of a global variable"
                  "invalid pointer" malloc_usable_size "${foreign}")

misuse_everywhere(free_interior_small "free inside a small block" "invalid free" free "${not_a_start}")
misuse_everywhere(free_interior_medium "free inside a block of some pages" "invalid free" free "${not_a_start}")
misuse_everywhere(free_interior_remote "free inside small blocks of another thread"
                  "invalid free" free "${not_a_start}")
misuse_everywhere(free_interior_large "free inside a large block" "invalid pointer" free "${inside_large}")
misuse_everywhere(free_interior_apart "free inside a block of 1 GiB"
                  "invalid pointer" free "${inside_large}")
misuse_everywhere(free_misaligned_large "free of a large block's second byte"
                  "invalid pointer" free "${inside_large}")
misuse_everywhere(realloc_interior_large "realloc inside a large block"
                  "invalid pointer" realloc "${inside_large}")
misuse(free_never_handed_out "free of a block that malloc never returned"
       PRODUCTION "double free" free "its slab is a new one by now"
       HARDENED "invalid free" free "the block was never handed out"
       GUARD "invalid free" free "the block was never handed out")

misuse(double_free_now "second free, at once"
       PRODUCTION "double free" free "${block_free}" GUARD "double free" free "${is_free}")
misuse(double_free_soon "second free, after one other"
       PRODUCTION "double free" free "${block_free}" GUARD "double free" free "${is_free}")
misuse(double_free_later "second free, after thousands of others; at the latest at the next trim"
       PRODUCTION "double free" free "${block_free}" GUARD "double free" free "${is_free}")
misuse(double_free_medium "second free of a block of some pages"
       PRODUCTION "double free" free "${block_free}" GUARD "double free" free "${is_free}")
misuse(double_free_remote "second free, by another thread"
       PRODUCTION "double free" free "${block_free}" GUARD "double free" free "${is_free}")
misuse(double_free_large "second free of a large block"
       PRODUCTION "double free" free "${pages_free}" GUARD "double free" free "${is_free}")
# The guard keeps 64 large blocks at random places: one free in 64 drives the block before it out.
misuse(double_free_cached "second free of a large block of 1 MiB, which its thread keeps"
       PRODUCTION "double free" free "${pages_free}" GUARD "double free" free "${is_free}|${pages_free}")
misuse(double_free_apart "second free of a block of 1 GiB"
       PRODUCTION "double free" free "${pages_free}" GUARD "double free" free "${is_free}")
misuse(realloc_freed_large "realloc of a freed large block"
       PRODUCTION "double free" realloc "${pages_free}" GUARD "double free" realloc "${is_free}")
misuse(realloc_cached "realloc of a freed large block of 1 MiB, which its thread keeps"
       PRODUCTION "double free" realloc "${pages_free}" GUARD "double free" realloc "${is_free}")

# Small blocks of which the program frees no more: a magazine has them, and its slabs say nothing.
misuse(double_free_interleaved "second free, after one other, and the block is wanted again"
       PRODUCTION unnoticed HARDENED "double free" free "${is_free}" GUARD "double free" free "${is_free}")
misuse(double_free_two_threads "second free of a block that lies in another thread's cache"
       PRODUCTION unnoticed HARDENED "double free" free "${is_free}" GUARD "double free" free "${is_free}")
misuse(free_interior_once "free inside a small block, and no other of its size"
       PRODUCTION unnoticed HARDENED "invalid free" free "${not_a_start}"
       GUARD "invalid free" free "${not_a_start}")
misuse(free_interior_last "free of the last byte of a block, at the end of a page"
       PRODUCTION unnoticed HARDENED "invalid free" free "${not_a_start}"
       GUARD "invalid free" free "${not_a_start}")
misuse(free_misaligned_small "free of a small block's second byte"
       PRODUCTION unnoticed HARDENED "invalid free" free "${not_a_start}"
       GUARD "invalid free" free "${not_a_start}")
misuse(realloc_interior_small "realloc inside a small block"
       PRODUCTION unnoticed HARDENED "invalid free" realloc "${not_a_start}"
       GUARD "invalid free" realloc "${not_a_start}")
misuse(realloc_freed_small "realloc of a freed small block"
       PRODUCTION unnoticed HARDENED "double free" realloc "${is_free}"
       GUARD "double free" realloc "${is_free}")
misuse(usable_size_freed "malloc_usable_size of a freed small block"
       PRODUCTION unnoticed HARDENED "double free" malloc_usable_size "${is_free}"
       GUARD "double free" malloc_usable_size "${is_free}")

# With canaries: a byte of them was written to.
set(behind_it overflow free "the bytes behind it were written to")
behind(why 24 24)
misuse(overflow_small "a byte behind a small block, into its slack"
       PRODUCTION unnoticed CANARIES ${behind_it} GUARD overflow free "${why}")
behind(why 64 64)
misuse(overflow_into_next "a byte behind a small block, into the next one"
       PRODUCTION unnoticed CANARIES ${behind_it} GUARD overflow free "${why}")
behind(why 5 5)
misuse(overflow_by_terminator "a string's terminating zero behind its block"
       PRODUCTION unnoticed CANARIES ${behind_it} GUARD overflow free "${why}")
behind(why 50000 50000)
misuse(overflow_medium "a byte behind a block of some pages"
       PRODUCTION unnoticed CANARIES ${behind_it} GUARD overflow free "${why}")
behind(why 1048576 1048576)
misuse(overflow_large "a byte behind a large block" PRODUCTION unnoticed GUARD overflow free "${why}")
misuse(overflow_large_far "20,000 bytes behind a large block"
       PRODUCTION unnoticed GUARD overflow access "behind a block of 1048576 bytes")
behind(why 100 100)
misuse(overflow_by_32 "32 bytes behind a small block" PRODUCTION unnoticed CANARIES ${behind_it} GUARD overflow free "${why}")
misuse(overflow_by_mib "a MiB behind a small block" PRODUCTION unnoticed CANARIES ${behind_it} GUARD overflow free "${why}")
behind(why 50000 50000)
misuse(overflow_medium_by_32 "32 bytes behind a block of some pages"
       PRODUCTION unnoticed CANARIES ${behind_it} GUARD overflow free "${why}")
misuse(overflow_medium_by_mib "a MiB behind a block of some pages"
       PRODUCTION unnoticed CANARIES ${behind_it} GUARD overflow free "${why}")
behind(why 1048576 1048576)
misuse(overflow_large_by_32 "32 bytes behind a large block"
       PRODUCTION unnoticed GUARD overflow free "${why}")
misuse(overflow_large_by_mib "a MiB behind a large block"
       PRODUCTION unnoticed GUARD overflow access "behind a block of 1048576 bytes")
behind(why 131072 131072)
misuse(overflow_toward_heap "80 bytes behind a large block, where room for a thread's magazines is"
       PRODUCTION unnoticed GUARD overflow free "${why}")
behind(why 100 100)
misuse(overflow_seen_by_realloc "a byte behind a block that realloc gets"
       PRODUCTION unnoticed CANARIES overflow realloc "the bytes behind it were written to" GUARD overflow realloc "${why}")
behind(why 40 40)
misuse(overflow_never_freed "a byte behind a block that is never freed"
       PRODUCTION unnoticed GUARD overflow exit "${why}")
misuse(overflow_own_page_never_freed "the same, with `HAKMEM_GUARD_PAGES=1`"
       PRODUCTION unnoticed GUARD overflow exit "${why}")
behind(why 1048576 1048576)
misuse(overflow_large_never_freed "a byte behind a large block that is never freed"
       PRODUCTION unnoticed GUARD overflow exit "${why}")
macro(in_front variable byte size)
  set(${variable} "byte ${byte} in front was written to, of a block of ${size} bytes")
endmacro()
in_front(why 1 128)
misuse(underflow "a byte in front of a small block, and another block in use there"
       PRODUCTION unnoticed CANARIES ${behind_it} GUARD overflow free "${why}")
in_front(why 1 100)
misuse(underflow_small "a byte in front of a small block" PRODUCTION unnoticed GUARD overflow free "${why}")
in_front(why 16 100)
misuse(underflow_by_32 "32 bytes in front of a small block" PRODUCTION unnoticed GUARD overflow free "${why}")
in_front(why 1 50000)
misuse(underflow_medium "a byte in front of a block of some pages"
       PRODUCTION unnoticed GUARD overflow free "${why}")
in_front(why 16 50000)
misuse(underflow_medium_by_32 "32 bytes in front of a block of some pages"
       PRODUCTION unnoticed GUARD overflow free "${why}")
in_front(why 1 1048576)
misuse(underflow_large "a byte in front of a large block" PRODUCTION unnoticed GUARD overflow free "${why}")
misuse(underflow_large_never_freed "a byte in front of a large block that is never freed"
       PRODUCTION unnoticed GUARD overflow exit "${why}")
# The block in front of it ends where nothing may be written.
misuse(underflow_large_by_32 "32 bytes in front of a large block"
       PRODUCTION unnoticed GUARD overflow access "behind a block of 1048576 bytes")
in_front(why 1 5000)
misuse(underflow_aligned "a byte in front of a block that is aligned to a page"
       PRODUCTION unnoticed GUARD overflow free "${why}")
set(why "behind a block of 0 bytes")
misuse(write_zero_size "write to a block of no bytes" PRODUCTION unnoticed GUARD overflow access "${why}")
misuse(read_zero_size "read from a block of no bytes" PRODUCTION unnoticed GUARD overflow access "${why}")

after_free(why 50 100)
misuse(write_after_free "write to a small block after its free"
       PRODUCTION unnoticed GUARD "use after free" free "${why}")
after_free(why 30000 50000)
misuse(write_after_free_medium "write to a block of some pages after its free"
       PRODUCTION unnoticed GUARD "use after free" free "${why}")
set(why "in a block of 1048576 bytes that was freed")
misuse(write_after_free_large "write to a large block after its free"
       PRODUCTION unnoticed GUARD "use after free" access "${why}")
misuse(read_after_free_large "read from a large block after its free"
       PRODUCTION unnoticed GUARD "use after free" access "${why}")
set(why "in a block of 100 bytes that was freed")
misuse(read_after_free "read from a small block after its free, with `HAKMEM_GUARD_PAGES=1`"
       PRODUCTION unnoticed GUARD "use after free" access "${why}")
misuse(read_after_realloc "read by a pointer from before realloc, with `HAKMEM_GUARD_PAGES=1`"
       PRODUCTION unnoticed GUARD "use after free" access "${why}")
set(why "in a block of 200000 bytes that was freed")
misuse(write_after_realloc_large "write to a large block by such a pointer, with `HAKMEM_GUARD_PAGES=1`"
       PRODUCTION unnoticed GUARD "use after free" access "${why}")
after_free(why 10 100)
misuse(write_after_realloc "write by a pointer from before realloc"
       PRODUCTION unnoticed GUARD "use after free" free "${why}")
misuse(write_after_realloc_by_one "the same, where realloc asked for one byte more"
       PRODUCTION unnoticed GUARD "use after free" free "${why}")
after_free(why 10 50000)
misuse(write_after_realloc_medium "the same, a block of some pages and one byte less"
       PRODUCTION unnoticed GUARD "use after free" free "${why}")
after_free(why 0 64)
misuse(write_to_freed_by_other "write to blocks that another thread freed, over the links to their owner"
       PRODUCTION "heap corruption" free "a block was written to after its free"
       GUARD "use after free|heap corruption" free "${why}|a block was written to after its free")

set(why "a block was written to after its free")
misuse_everywhere(forge_link "a freed block's link made to lead to a block in use, without quarantine"
                  "heap corruption" free "${why}")
misuse_everywhere(forge_link_in_part "two bytes of a freed block's link changed, without quarantine"
                  "heap corruption" free "${why}")

misuse(delete_of_malloc "malloc, then delete"
       PRODUCTION unnoticed GUARD "mismatched free" "operator delete" "the block came from malloc")
misuse(free_of_new "new, then free"
       PRODUCTION unnoticed GUARD "mismatched free" free "the block came from new")
misuse(delete_of_new_array "new[], then delete" PRODUCTION unnoticed
       GUARD "mismatched free" "operator delete" "the block came from new\\[\\]")
misuse(delete_with_wrong_size "delete with another size than new" PRODUCTION unnoticed
       GUARD "mismatched free" "operator delete" "the block has 100 bytes, not 60")
misuse(delete_with_wrong_alignment "delete with another alignment than new" PRODUCTION unnoticed
       GUARD "mismatched free" "operator delete" "the block is aligned to 64, not to 32")
misuse(delete_of_aligned_new "new with an alignment, delete without" PRODUCTION unnoticed
       GUARD "mismatched free" "operator delete" "the block is aligned to 64, not to 1")
misuse(free_with_wrong_size "free_sized with another size than malloc" PRODUCTION unnoticed
       GUARD "mismatched free" free_sized "the block has 100 bytes, not 101")
misuse(free_sized_of_aligned "aligned_alloc, then free_sized" PRODUCTION unnoticed
       GUARD "mismatched free" free_sized "the block is aligned to 64, not to 1")
misuse(free_with_wrong_alignment "free_aligned_sized with another alignment than aligned_alloc"
       PRODUCTION unnoticed
       GUARD "mismatched free" free_aligned_sized "the block is aligned to 64, not to 32")

misuse(write_in_front_of_all "write page after page in front of the blocks, towards the allocator's own memory"
       PRODUCTION fault GUARD overflow access "among the allocator's tables")
