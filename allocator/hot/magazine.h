/* The hot box: popping from and pushing to a thread's magazine. Nothing else.
 *
 *   | NULL | block | block | block |       |       |
 *            oldest           ^ top           ^ end
 *
 * The block freed last is handed out first, while its memory is still in the cache, and without
 * being touched: no line of a block is read or written here.
 *
 * Where HAK_HAND says so, that block is kept in hand: in one word with the count of blocks. Its
 * slot is written only when another comes upon it. Then malloc finds it by one load from a place
 * that is known at once, not in the slot that free has just written. Which of the two is faster
 * depends on the processor (docs/experiments.md, Lanes). */
#pragma once

#include "base/types.h"
#include "magazine/count.h"
#include "pages/mark.h"
#include "thread/thread.h"

/* Fetches the block that the next malloc of the class will hand out: for programs whose blocks have
 * left the cache when they come back. By default no lines, and no instruction. A hint: NULL, or
 * lines beyond the end of a block, do no harm. */
HAK_INLINE void hak_fetch_ahead(const void *block) {
    for (int line = 0; line < HAK_PREFETCH_LINES; line++)
        HAK_FETCH((const char *)block + (size_t)line * HAK_CACHE_LINE);
}

HAK_INLINE void *hak_array_pop(hak_heap *heap, unsigned cls, size_t size) {
    void **top = heap->top[cls];
    void *block = HAK_READ_SHARED(*top);
    if (HAK_UNLIKELY(block == NULL) || hak_count_picks(heap, size))
        return NULL;
    HAK_WRITE_SHARED(heap->top[cls], top - 1);
    hak_fetch_ahead(top[-1]);
    return block;
}

/* The last block is for the slow path, which brings more: so a block taken in hand is never NULL.
 */
HAK_INLINE void *hak_hand_pop(hak_heap *heap, unsigned cls, size_t size) {
    uint64_t hand = heap->hand[cls];
    ptrdiff_t below = (ptrdiff_t)hak_hand_count(hand) - 1;
    void *next = HAK_READ_SHARED(heap->top[cls][below]), *block = hak_hand_block(hand);
    if (HAK_UNLIKELY(next == NULL) || hak_count_picks(heap, size))
        return NULL;
    HAK_ASSUME(block != NULL);
    HAK_WRITE_SHARED(heap->hand[cls], hak_hand_of(next, (size_t)below));
    hak_fetch_ahead(next);
    return block;
}

/* A block for `size` bytes. NULL when the slow path is to be asked: the magazine is empty, or
 * nearly, or the malloc is picked. */
HAK_INLINE void *hak_magazine_pop(hak_heap *heap, unsigned cls, size_t size) {
    void *block = HAK_HAND ? hak_hand_pop(heap, cls, size) : hak_array_pop(heap, cls, size);
    if (HAK_UNLIKELY(block == NULL))
        return NULL;
    HAK_TALLY(heap, cls, pop);
    return hak_mark_out(heap, cls, block);
}

HAK_INLINE bool hak_array_push(hak_heap *heap, unsigned cls, void *block) {
    void **top = heap->top[cls];
    if (HAK_UNLIKELY(top == heap->end[cls] || (!HAK_HARDENED && HAK_READ_SHARED(*top) == block)))
        return false;
    HAK_WRITE_SHARED(top[1], block);
    HAK_WRITE_SHARED(heap->top[cls], top + 1);
    return true;
}

HAK_INLINE bool hak_hand_push(hak_heap *heap, unsigned cls, void *block) {
    uint64_t hand = heap->hand[cls];
    void **top = heap->top[cls] + hak_hand_count(hand), *newest = hak_hand_block(hand);
    if (HAK_UNLIKELY(top == heap->end[cls] || (!HAK_HARDENED && newest == block)))
        return false;
    HAK_WRITE_SHARED(*top, newest);
    HAK_WRITE_SHARED(heap->hand[cls], hak_hand_of(block, hak_hand_count(hand) + 1));
    return true;
}

/* False, and nothing happened: the magazine is full, or the block is the one freed last (which its
 * mark says in hardened builds). */
HAK_INLINE bool hak_magazine_push(hak_heap *heap, unsigned cls, void *block) {
    if (!(HAK_HAND ? hak_hand_push(heap, cls, block) : hak_array_push(heap, cls, block)))
        return false;
    HAK_TALLY(heap, cls, push);
    hak_mark_back(heap, cls, block);
    return true;
}

/* Index into class_of_small. In 32 bits, because that saves two bytes of code, and with them the
 * hot path of malloc lies in one cache line even when its slow calls are long jumps. */
HAK_INLINE unsigned hak_small_step(size_t size) {
    unsigned rounded = (unsigned)size + 15;
    HAK_KEEP_WIDTH(rounded);
    return rounded >> HAK_SMALL_STEP_SHIFT;
}

/* A free block for at most HAK_SMALL_MAX bytes from the calling thread's magazine; NULL when
 * hak_refill is to be asked. */
HAK_INLINE void *hak_take_small(size_t size) {
    hak_heap *heap = hak_this_thread.heap;
    return hak_magazine_pop(heap, heap->class_of_small[hak_small_step(size)], size);
}
