/* Many blocks given back at once: by a full magazine, a drained chain, or an ended thread. */
#include "base/classes.h"
#include "pages/range.h"
#include "slab/slab.h"

/* Ends the program: of these blocks, which belong to one word of the bitmap, one is free already or
 * among them twice. */
_Noreturn static HAK_COLD void refuse_twice(const hak_slab *slab, void *const *blocks,
                                            uintptr_t from, uint64_t before, uint64_t reciprocal) {
    for (;; blocks++) {
        uint64_t one = (uint64_t)1 << hak_divide((uintptr_t)*blocks - from, reciprocal).index;
        if ((before & one) != 0)
            hak_slab_refuse(slab, *blocks);
        before |= one;
    }
}

/* Marks the first block as free, and those behind it that belong to the same word of the bitmap;
 * returns how many. Their ones are gathered in a register: set in memory, each bit would wait for
 * the one before it. Whether a block came twice is seen at the end, by their number. `span` is what
 * was cut of the slab. */
static inline size_t put_word(hak_slab *slab, void *const *blocks, size_t count, size_t span,
                              const hak_class *of) {
    const uint64_t reciprocal = of->reciprocal;
    size_t word = hak_divide((uintptr_t)blocks[0] - slab->start, reciprocal).index / 64, n = 0;
    size_t below = word * 64 * of->size, part = (size_t)64 * of->size;
    uintptr_t from = slab->start + below;
    uint64_t ones = 0, before = slab->bitmap[word];
    if (part > span - below)
        part = span - below;
    for (; n < count && (uintptr_t)blocks[n] - from < part; n++) {
        hak_quotient at = hak_divide((uintptr_t)blocks[n] - from, reciprocal);
        if (HAK_UNLIKELY(!at.is_exact))
            hak_slab_refuse(slab, blocks[n]);
        ones |= (uint64_t)1 << (at.index % 64);
    }
    if (HAK_UNLIKELY((ones & before) != 0) || HAK_UNLIKELY(hak_count_bits(ones) != n))
        refuse_twice(slab, blocks, from, before, reciprocal);
    slab->bitmap[word] = before | ones;
    slab->summary |= (uint64_t)1 << word;
    return n;
}

size_t hak_slab_put_run(hak_heap *heap, hak_slab *slab, void *const *blocks, size_t count) {
    const hak_class *of = &hak_classes[slab->cls];
    const size_t span = (size_t)slab->carved * of->size;
    size_t n = 0;
    while (n < count && (uintptr_t)blocks[n] - slab->start < span)
        n += put_word(slab, blocks + n, count - n, span, of);
    if (HAK_UNLIKELY(n == 0))
        hak_slab_refuse(slab, blocks[0]);
    slab->pulse = HAK_PULSE_LIVELY;
    slab->used = (uint16_t)(slab->used - n);
    if (slab->used <= slab->low_mark)
        hak_slab_sink(heap, slab);
    return n;
}

/* Of slabs that are one page long, entry, bitmap and offset follow from the number of the page: no
 * address is read that an earlier block could have changed, so the processor works at many blocks
 * at once. The tables' addresses stay in registers. */
static size_t put_by_page(hak_heap *heap, unsigned cls, void *const *blocks, size_t count) {
    const hak_owners owners = hak_owners_now();
    const uintptr_t own = hak_owner_word(heap, cls);
    const uint64_t reciprocal = hak_classes[cls].reciprocal;
    hak_slab *const slabs = hak_ranges[0].slabs;
    uint64_t (*const bitmaps)[HAK_BITMAP_WORDS] = hak_ranges[0].bitmaps;
    size_t n = 0;
    for (; n < count && hak_owners_say(&owners, blocks[n], own); n++) {
        size_t place = (uintptr_t)blocks[n] - owners.base, page = place >> HAK_PAGE_SHIFT;
        hak_slab_put_at(heap, &slabs[page], bitmaps[page], place % HAK_PAGE_SIZE, reciprocal);
    }
    return n;
}

size_t hak_slab_put_scattered(hak_heap *heap, unsigned cls, void *const *blocks, size_t count) {
    hak_slab *slab;
    size_t n = 0;
    if (hak_classes[cls].pages == 1)
        return put_by_page(heap, cls, blocks, count);
    for (; n < count && (slab = hak_slab_at_home(heap, cls, blocks[n])) != NULL; n++)
        hak_slab_put(heap, slab, blocks[n]);
    return n;
}
