/* Where magazines lie and how large they are. Each begins with a few slots, side by side with the
 * others, so that a process that allocates little touches little. As its class fills a slab, it
 * moves through places of growing size up to the usual depth. These are cut one behind the other
 * when they are wanted, so only memory that is used is touched. A magazine that gives blocks back
 * and soon wants them again becomes deeper than that, step by step, in a place of its own. Each
 * purge epoch makes it less deep again.
 *
 *   slots:  | small 1 | ... | small n | grown  | grown | ...   | deep 1 ...... | deep 2 ......
 *
 * Those of cold classes begin without slots, in a place for grown ones, when the first block comes.
 * They are never deep.
 *
 * All functions are for the heap's owner. */
#pragma once

#include "magazine/arm.h"
#include "pages/range.h"

/* The factor by which depths change. A magazine that was too shallow becomes so many times as deep,
 * and one whose class sheds so many times less deep. Each place in which a magazine grows is so
 * many times as large as the one before. */
enum { HAK_DEPTH_STEP = 4 };

/* Makes all magazines of a new heap small and empty. */
void hak_magazines_lay_out(hak_heap *heap);

/* Sets the depth of a magazine that is empty or not deeper than it, and moves it where it has room
 * for that. */
void hak_magazine_set_depth(hak_heap *heap, unsigned cls, unsigned depth);

/* Makes a magazine a step deeper, up to the deepest, when it runs empty after it had to give
 * blocks of this heap back: those would be wanted now. Not armed. */
void hak_magazine_deepen(hak_heap *heap, unsigned cls);

/* Makes a magazine that is deeper than usual less deep, but at least as deep as usual; it must hold
 * no more blocks than that. Then gives the memory of the slots beyond back. */
HAK_DOOR void hak_magazine_shrink(hak_heap *heap, unsigned cls, unsigned depth);

/* Gives the memory of grown magazines back to the system; all magazines must be empty. They read as
 * zero then, which is what the slot below an empty magazine must be. */
void hak_magazines_purge(hak_heap *heap);

/* The same for those alone that are armed and empty, whose owner comes to a slow path before it
 * uses them: so its hot path may go on with the others. Returns the bytes. */
size_t hak_magazines_purge_armed(const hak_heap *heap);

/* The last slot of a magazine that has a block; the empty one below the first where none has. */
HAK_INLINE void **hak_magazine_top(const hak_heap *heap, unsigned cls) {
    return HAK_HAND ? heap->top[cls] + hak_hand_count(heap->hand[cls]) : heap->top[cls];
}

/* Blocks in a magazine, armed or not; 0 when it is another thread's and moves just now. */
HAK_INLINE size_t hak_magazine_count(const hak_heap *heap, unsigned cls) {
    void *const *top =
        hak_is_armed(heap, cls) ? heap->bins[cls].held_top : hak_magazine_top(heap, cls);
    size_t count = (size_t)(top - heap->bins[cls].bottom);
    return count <= heap->bins[cls].depth ? count : 0;
}

bool hak_magazines_are_empty(const hak_heap *heap);

/* The block that was freed last; NULL when there is none. Here and below: not while it is armed. */
HAK_INLINE void *hak_magazine_newest(const hak_heap *heap, unsigned cls) {
    return HAK_HAND ? hak_hand_block(heap->hand[cls]) : *heap->top[cls];
}

/* Makes the slots alone say what the magazine holds: a block in hand is written to its own. Returns
 * the top. Memory that reads NULL already stays untouched. */
HAK_INLINE void **hak_magazine_lay_down(hak_heap *heap, unsigned cls) {
    void **top = hak_magazine_top(heap, cls), *newest = hak_magazine_newest(heap, cls);
    if (HAK_HAND && *top != newest)
        *top = newest;
    return top;
}

/* Sets the top; the slots up to it have been written. */
HAK_INLINE void hak_magazine_set_top(hak_heap *heap, unsigned cls, void **top) {
    heap->top[cls] = HAK_HAND ? heap->bins[cls].bottom : top;
    if (HAK_HAND)
        heap->hand[cls] = hak_hand_of(*top, (size_t)(top - heap->bins[cls].bottom));
    if (HAK_HARDENED && cls != HAK_CLASS_NONE && hak_range_count() > 1)
        hak_lead_malloc_away(heap, cls); /* pages/mark.h */
}

HAK_INLINE void hak_magazine_put(hak_heap *heap, unsigned cls, void *block) {
    void **top = hak_magazine_lay_down(heap, cls) + 1;
    *top = block;
    hak_magazine_set_top(heap, cls, top);
}

HAK_INLINE void **hak_magazine_end(hak_heap *heap, unsigned cls) {
    return heap->bins[cls].bottom + heap->bins[cls].depth;
}
