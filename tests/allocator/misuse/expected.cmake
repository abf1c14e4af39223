# Which program of this folder ends with which line: hakmem: <what>: <function>(<address>): <why>.
# Every program has its line here and every line its program; the test folder checks that.
#
# expect(PROGRAM "WHAT" "FUNCTION" "WHY")
macro(expect program what function why)
  list(APPEND expected_programs ${program})
  set(expected_${program} "^hakmem: ${what}: ${function}\\(0x[0-9a-f]+\\): ${why}$")
endmacro()

set(foreign "no allocation of this process returned it")
set(inside_large "inside a large block, not its start")
set(not_a_start "not the start of a block")
set(pages_free "its pages are free already")
# Which of these depends on where the second free finds the block: in the cache, in a slab that still
# has others, in a slab that went back, in one that was made in its place.
set(block_free "the block is free already|it is the block freed last|its slab is empty already|")
string(APPEND block_free "its slab is a new one by now|${pages_free}")

expect(free_stack              "invalid pointer" free "${foreign}")
expect(free_global             "invalid pointer" free "${foreign}")
expect(free_literal            "invalid pointer" free "${foreign}")
expect(free_mapped             "invalid pointer" free "${foreign}")
expect(free_unmapped           "invalid pointer" free "${foreign}")
expect(free_beyond_user_space  "invalid pointer" free "${foreign}")
expect(free_untouched_range    "invalid pointer" free "${foreign}")
expect(free_interior_small     "invalid free"    free "${not_a_start}")
expect(free_interior_medium    "invalid free"    free "${not_a_start}")
expect(free_interior_large     "invalid pointer" free "${inside_large}")
expect(free_misaligned_large   "invalid pointer" free "${inside_large}")
expect(double_free_now         "double free"     free "(${block_free})")
expect(double_free_later       "double free"     free "(${block_free})")
expect(double_free_medium      "double free"     free "(${block_free})")
expect(double_free_remote      "double free"     free "(${block_free})")
expect(double_free_large       "double free"     free "${pages_free}")
expect(realloc_stack           "invalid pointer" realloc "${foreign}")
expect(realloc_freed_large     "double free"     realloc "${pages_free}")
expect(realloc_interior_large  "invalid pointer" realloc "${inside_large}")
expect(usable_size_global      "invalid pointer" malloc_usable_size "${foreign}")
