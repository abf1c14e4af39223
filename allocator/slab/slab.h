/* Slabs: runs of pages cut into blocks of one class. All functions are for the slab's owner. */
#pragma once

#include "base/classes.h"
#include "base/types.h"
#include "pages/range.h"

/* A new slab on the heap's partial list, where it comes first. NULL: out of memory. */
hak_slab *hak_slab_make(hak_heap *heap, unsigned cls);

/* Makes the heap the owner of a slab: at its making, and under the registry lock later. */
void hak_slab_own(const hak_heap *heap, const hak_slab *slab);

/* The same in a forked child, for a slab whose owner only the parent has. That thread may have been
 * in the middle of any operation. */
void hak_slab_take_over(hak_heap *heap, hak_slab *slab);

/* Moves up to `want` free blocks of the slab into slots[0 .. n), lowest address last, so that a
 * magazine hands them out in the order of their addresses. Returns n. */
size_t hak_slab_take(hak_heap *heap, hak_slab *slab, void **slots, size_t want);

/* Looks after a slab whose `used` has sunk to its low mark or below. One that was full is linked.
 * One that is half empty may be purged. An empty one gives its pages back if more than
 * HAK_WARM_SLABS slabs of its class have room. */
HAK_DOOR void hak_slab_sink(hak_heap *heap, hak_slab *slab);

/* Ends the program: `block` is no block of the slab that is in use; NULL: it is a free one
 * whose link was written over. */
_Noreturn HAK_COLD void hak_slab_refuse(const hak_slab *slab, const void *block);

/* Takes the block at this offset of a slab back. One that is free already or that is no block of
 * the slab ends the program. */
HAK_INLINE void hak_slab_put_at(hak_heap *heap, hak_slab *slab, uint64_t *bitmap, size_t offset,
                                uint64_t reciprocal) {
    hak_quotient at = hak_divide(offset, reciprocal);
    uint64_t *word = &bitmap[at.index / 64];
    if (HAK_UNLIKELY(!at.is_exact) || HAK_UNLIKELY(at.index >= slab->carved))
        hak_slab_refuse(slab, (void *)(slab->start + offset));
    uint64_t before = *word, after = before | (uint64_t)1 << (at.index % 64);
    if (HAK_UNLIKELY(after == before))
        hak_slab_refuse(slab, (void *)(slab->start + offset));
    *word = after;
    if (before == 0)
        slab->summary |= (uint64_t)1 << (at.index / 64);
    slab->pulse = HAK_PULSE_LIVELY;
    if (HAK_UNLIKELY(--slab->used == slab->low_mark))
        hak_slab_sink(heap, slab);
}

HAK_INLINE void hak_slab_put(hak_heap *heap, hak_slab *slab, void *block) {
    hak_slab_put_at(heap, slab, slab->bitmap, (uintptr_t)block - slab->start,
                    hak_classes[slab->cls].reciprocal);
}

/* The slab of a block of class cls when it is one of this heap and lies in the first range, as
 * nearly all do; else NULL. */
HAK_INLINE hak_slab *hak_slab_at_home(const hak_heap *heap, unsigned cls, const void *block) {
    const hak_owners owners = hak_owners_now();
    if (HAK_UNLIKELY(!hak_owners_say(&owners, block, hak_owner_word(heap, cls))))
        return NULL;
    return hak_run_at(&hak_ranges[0], hak_page_index(&hak_ranges[0], block));
}

/* Takes back the first of `count` blocks, which lies on a page of the slab, and those behind it up
 * to the first that lies elsewhere. Returns how many. */
size_t hak_slab_put_run(hak_heap *heap, hak_slab *slab, void *const *blocks, size_t count);

/* Takes back the first of `count` blocks of class cls that lie in slabs of this heap, whichever
 * they are. Returns how many: up to the first one that does not, or that lies outside the first
 * range. */
size_t hak_slab_put_scattered(hak_heap *heap, unsigned cls, void *const *blocks, size_t count);

/* Puts a slab on / takes it off the heap's partial list of its class, where the one that was put
 * there last comes first. */
void hak_slab_link(hak_heap *heap, hak_slab *slab);
void hak_slab_unlink(hak_heap *heap, hak_slab *slab);

/* True when nobody wanted anything of the slab for an epoch: it was quiet, or its owner was. */
HAK_INLINE bool hak_slab_has_waited(const hak_heap *heap, const hak_slab *slab) {
    return slab->pulse != HAK_PULSE_LIVELY || heap->robbed;
}

/* Gives the pages of an empty slab back: to the thread's run cache or to the segment; those of one
 * that has waited wait no longer. It must be on the heap's partial list. */
void hak_slab_release(hak_heap *heap, hak_slab *slab);
/* The same for all empty slabs of a class. */
void hak_slab_release_empty(hak_heap *heap, unsigned cls);

/* True when the invariants of base/page_types.h hold for the slab. */
bool hak_slab_is_valid(const hak_slab *slab);
