/* Hardened builds have a mark of one byte for each place where a block of a class can begin. It
 * says whether the program has the block that begins there, and where exactly. malloc writes the
 * mark; free subtracts what malloc wrote, and nothing may be left. Blocks begin at multiples of a
 * grain, 16 bytes, so a mark counts grains. What is no multiple never comes to a mark.
 *
 *   blocks of 80 bytes:  | out           | free          | out           |     ...
 *   places of 64 bytes:  |           |           |           |           |     ...
 *   marks:                 0x01        0           0x15                2 * grain + 1, cut off
 *
 * So free itself finds a second free, a free inside a block and one of what was never handed out,
 * before a block can be handed out twice. A place is the largest of 16, 32, 64 ... 1024 bytes that
 * no two blocks of the class begin in. So marks of large blocks lie close together. They are no
 * bits, because threads that free neighbours at once would lose some. Where all blocks are free all
 * marks are zero, as in a table that was never touched: their memory may be purged.
 *
 * malloc marks in the first range alone, and does not ask whether the block lies there: where there
 * are several ranges it always comes to its slow path. In other builds the functions do nothing. */
#pragma once

#include "base/types.h"

/* One word says where the marks of a class are. It is the address that they would have if the first
 * range began at 0. The lowest six bits of that address are 0, so they hold the shift. The
 * processor shifts by the word as it is. The marks of a page begin with a cache line: otherwise two
 * threads, each with a page of its own, would wait for each other. */
HAK_INLINE uint8_t *hak_mark_by(uintptr_t marks, uintptr_t grain) {
    return (uint8_t *)(marks & ~(uintptr_t)63) + (grain >> (marks % 64));
}

HAK_INLINE uint8_t hak_mark_for(uintptr_t grain) {
    unsigned mark = 2 * (unsigned)grain + 1;
    HAK_KEEP_WIDTH(mark); /* one instruction, where compilers take two for a byte */
    return (uint8_t)mark;
}

/* Is added to the mark of a block with a canary (pages/canaries.h). Two places that share a mark
 * are never so far apart, so it is the mark of no other block. */
enum { HAK_MARK_CANARY = 0x80 };

/* The mark of the place that an address in a slab lies in, in any range. */
uint8_t *hak_mark_of(const void *address);

/* A block of a slab of the first range is handed out: returns it. */
HAK_INLINE void *hak_mark_out(const hak_heap *heap, unsigned cls, void *block) {
    if (!HAK_HARDENED)
        return block;
    uint8_t mark = hak_mark_for(hak_grain(block));
    *hak_mark_by(heap->marks[cls], hak_grain(block)) = mark;
    return block;
}

/* The same for a slab of any range; NULL is allowed. */
void *hak_mark_out_anywhere(void *block);

/* Ends the program: the address lies in a slab, but the program has no block that begins there. */
_Noreturn void hak_mark_refuse(const void *block);

/* What was handed out comes back, to a slab of the first range; or the program ends. The address
 * is a multiple of a grain. */
HAK_INLINE void hak_mark_back(const hak_heap *heap, unsigned cls, const void *block) {
    if (!HAK_HARDENED)
        return;
    uint8_t out = hak_mark_for(hak_grain(block));
    uint8_t *mark = hak_mark_by(heap->marks[cls], hak_grain(block));
    *mark = (uint8_t)(*mark - out);
    if (HAK_UNLIKELY(*mark != 0))
        hak_mark_refuse(block);
}

/* The same for a slab of any range. */
void hak_mark_back_anywhere(const void *block);

/* Whether the program has a block that begins here, in a slab of any range, without a canary. */
bool hak_mark_is_out(const void *block);

void hak_mark_must_be_out(const char *function, const void *block);

/* Tells where the marks of the first range are. False: out of memory. */
bool hak_marks_tell(uintptr_t marks[HAK_CLASSES]);
