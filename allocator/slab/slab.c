#include "slab/slab.h"

#include "base/bits.h"
#include "base/fatal.h"
#include "os/secret.h"
#include "pages/epoch.h"

#include <string.h>

/* ---- the partial list ---- */

void hak_slab_link(hak_heap *heap, hak_slab *slab) {
    hak_slab *first = heap->bins[slab->cls].partial;
    slab->next = first;
    slab->prev = first != NULL ? first->prev : slab;
    if (first != NULL)
        first->prev = slab;
    heap->bins[slab->cls].partial = slab;
}

void hak_slab_unlink(hak_heap *heap, hak_slab *slab) {
    hak_slab **first = &heap->bins[slab->cls].partial;
    if (slab == heap->trim.next)
        heap->trim.next = slab->next;
    if (slab == *first)
        *first = slab->next;
    else
        slab->prev->next = slab->next;
    hak_slab *behind = slab->next != NULL ? slab->next : *first;
    if (behind != NULL)
        behind->prev = slab->prev;
}

/* ---- the low mark ---- */

static unsigned capacity_of(const hak_slab *slab) {
    return hak_classes[slab->cls].capacity;
}

/* The highest of full - 1, half and none that lies below `used`. */
static void set_low_mark(hak_slab *slab) {
    unsigned capacity = capacity_of(slab);
    if (slab->used == capacity)
        slab->low_mark = (uint16_t)(capacity - 1);
    else
        slab->low_mark = (uint16_t)(slab->used > capacity / 2 ? capacity / 2 : 0);
}

/* True while the heap has no more slabs of the class with room than may stay warm. */
static bool has_few_slabs(const hak_heap *heap, unsigned cls) {
    const hak_slab *slab = heap->bins[cls].partial;
    for (unsigned count = 0; slab != NULL && count < HAK_WARM_SLABS; count++)
        slab = slab->next;
    return slab == NULL;
}

void hak_slab_sink(hak_heap *heap, hak_slab *slab) {
    if (slab->low_mark + 1u == capacity_of(slab)) /* it was full */
        hak_slab_link(heap, slab);
    if (slab->used <= capacity_of(slab) / 2)
        hak_purge_expect(); /* what lies free in it may be worth giving back */
    set_low_mark(slab);
    if (slab->used == 0 && !has_few_slabs(heap, slab->cls))
        hak_slab_release(heap, slab);
}

/* ---- after fork ---- */

/* Counts the free blocks of a slab, and makes its summary anew. */
static unsigned recount(hak_slab *slab) {
    unsigned free_blocks = 0;
    slab->summary = 0;
    for (unsigned word = 0; word < HAK_BITMAP_WORDS; word++) {
        unsigned carved = slab->carved > word * 64 ? slab->carved - word * 64u : 0;
        if (carved < 64)
            slab->bitmap[word] &= ((uint64_t)1 << carved) - 1;
        slab->summary |= (uint64_t)(slab->bitmap[word] != 0) << word;
        free_blocks += hak_count_bits(slab->bitmap[word]);
    }
    return free_blocks;
}

/* After a fork `carved` and each word of the bitmap are old or new. Either way no block in use
 * looks free: its bit was cleared, or `carved` raised, before the thread that forked could know of
 * it. So the rest is counted again. Blocks that lay in caches stay in use. */
void hak_slab_take_over(hak_heap *heap, hak_slab *slab) {
    slab->used = (uint16_t)(slab->carved - recount(slab));
    slab->pulse = HAK_PULSE_LIVELY;
    slab->dirty_tail = true;
    set_low_mark(slab);
    if (slab->used < capacity_of(slab))
        hak_slab_link(heap, slab);
    hak_slab_own(heap, slab);
}

/* ---- taking blocks ---- */

/* Both fill slots downward from slots[want - 1]; they return how many slots are left. */

static size_t take_freed(hak_slab *slab, void **slots, size_t want) {
    size_t size = hak_classes[slab->cls].size;
    while (want > 0 && slab->summary != 0) {
        unsigned word = hak_lowest_bit(slab->summary);
        uint64_t ones = slab->bitmap[word];
        for (; want > 0 && ones != 0; ones &= ones - 1)
            slots[--want] = (void *)(slab->start + (word * 64u + hak_lowest_bit(ones)) * size);
        slab->bitmap[word] = ones;
        if (ones == 0)
            slab->summary &= slab->summary - 1;
    }
    return want;
}

static size_t take_fresh(hak_slab *slab, void **slots, size_t want) {
    size_t size = hak_classes[slab->cls].size;
    uintptr_t block = slab->start + slab->carved * size;
    for (unsigned end = capacity_of(slab); want > 0 && slab->carved < end;
         slab->carved++, block += size)
        slots[--want] = (void *)block;
    return want;
}

static void note_taken(hak_heap *heap, hak_slab *slab, size_t taken) {
    slab->used = (uint16_t)(slab->used + taken);
    slab->pulse = HAK_PULSE_LIVELY;
    set_low_mark(slab);
    if (slab->used == capacity_of(slab))
        hak_slab_unlink(heap, slab);
}

/* Hardened builds: what lies beside a block cannot be foreseen. */
static void shuffle(hak_heap *heap, void **slots, size_t count) {
    if (*heap->order == 0)
        *heap->order = (hak_secret ^ (uintptr_t)heap) | 1;
    for (size_t left = count; left > 1; left--) {
        size_t other = hak_random_up_to(heap->order, left);
        void *block = slots[other];
        slots[other] = slots[left - 1];
        slots[left - 1] = block;
    }
}

size_t hak_slab_take(hak_heap *heap, hak_slab *slab, void **slots, size_t want) {
    size_t left = take_fresh(slab, slots, take_freed(slab, slots, want));
    size_t taken = want - left;
    note_taken(heap, slab, taken);
    if (left != 0)
        memmove(slots, slots + left, taken * sizeof slots[0]);
    if (HAK_HARDENED)
        shuffle(heap, slots, taken);
    return taken;
}

/* ---- taking blocks back ---- */

void hak_slab_refuse(const hak_slab *slab, const void *block) {
    if (slab == NULL)
        hak_fatal("heap corruption", "free", block, "a block was written to after its free");
    if (slab->cls == HAK_CLASS_NONE)
        hak_fatal("double free", "free", block, "its slab is empty already");
    size_t size = hak_classes[slab->cls].size, offset = (uintptr_t)block - slab->start;
    if (offset % size != 0)
        hak_fatal("invalid free", "free", block, "not the start of a block");
    if (offset / size >= slab->carved)
        hak_fatal("double free", "free", block, "its slab is a new one by now");
    hak_fatal("double free", "free", block, "the block is free already");
}

/* ---- invariants ---- */

bool hak_slab_is_valid(const hak_slab *slab) {
    unsigned free_blocks = 0;
    for (unsigned i = 0; i < HAK_BITMAP_WORDS; i++) {
        if ((slab->bitmap[i] != 0) != ((slab->summary >> i & 1) != 0))
            return false;
        free_blocks += hak_count_bits(slab->bitmap[i]);
    }
    return slab->carved == slab->used + free_blocks && slab->carved <= capacity_of(slab) &&
           (slab->low_mark < slab->used || slab->used == 0);
}
