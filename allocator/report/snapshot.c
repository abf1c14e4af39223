#include "report/snapshot.h"

#include "base/bits.h"
#include "base/classes.h"
#include "heap/owner.h"
#include "heap/seat.h"
#include "magazine/magazine.h"
#include "os/os.h"
#include "pages/apart.h"
#include "pages/excess.h"
#include "pages/range.h"
#include "pages/spare.h"
#include "remote/chain.h"
#include "trap/trap.h"

#include <string.h>

/* ---- pages ---- */

static void add_large(hak_snapshot *s, const hak_slab *run) {
    size_t size = run->large_size, pages = run->pages;
    s->large_blocks++;
    s->large_bytes += size;
    s->large_usable += hak_round_up(size, hak_os_page_size());
    s->large_pages += pages;
    s->huge_blocks += pages >= HAK_HUGE_PAGES;
    s->huge_bytes += pages >= HAK_HUGE_PAGES ? size : 0;
}

/* Its owner may be at it, or it has become another run just now. */
static void add_slab(hak_snapshot *s, const hak_slab *slab) {
    unsigned cls = slab->cls, out = slab->used, carved = slab->carved;
    hak_class_figures *c = &s->classes[cls];
    if (cls == HAK_CLASS_NONE || cls >= HAK_CLASSES)
        return;
    c->empty += out == 0;
    c->hot += 2 * out > hak_classes[cls].capacity;
    c->draining += out != 0 && 2 * out <= hak_classes[cls].capacity;
    c->out += out;
    c->carved += carved > out ? carved : out;
}

static void add_run(hak_snapshot *s, const hak_slab *run) {
    unsigned kind = run->kind;
    if (hak_kind_is_large(kind))
        add_large(s, run);
    else if (kind == HAK_RUN_SLAB)
        add_slab(s, run);
    s->cached_runs += hak_kind_is_cached(kind);
    s->cached_pages += hak_kind_is_cached(kind) ? run->pages : 0;
}

static void add_segment(hak_snapshot *s, const hak_range *r, size_t index) {
    const hak_segment *segment = &r->segments[index];
    const hak_slab *runs = &r->slabs[index * HAK_PAGES_PER_SEGMENT];
    uint32_t used = segment->used, waits = segment->touched & ~used, kept = segment->kept;
    s->segments++;
    s->huge_segments += segment->huge;
    s->dirty_pages += hak_count_bits(waits & ~kept);
    s->kept_pages += hak_count_bits(waits & kept);
    for (; used != 0; used &= used - 1)
        add_run(s, &runs[hak_lowest_bit(used)]);
}

static void add_ranges(hak_snapshot *s) {
    HAK_EACH_RANGE(r) {
        s->reserved += r->mapped - r->base;
        for (size_t at = 0; at < r->segments_fresh; at++)
            add_segment(s, r, at);
    }
}

/* ---- heaps ---- */

/* Where a reclaimer was, empty slots lie among the blocks until the owner comes by. The heap may
 * just be giving its memory back: then its words read NULL, one by one. */
static size_t blocks_in(const hak_heap *heap, unsigned cls) {
    void *const *bottom = __atomic_load_n(&heap->bins[cls].bottom, __ATOMIC_RELAXED);
    size_t count = hak_magazine_count(heap, cls), empty = 0;
    if ((heap->claim & HAK_CLAIM_HOLES) != 0 && !hak_is_armed(heap, cls) && bottom != NULL)
        for (size_t i = 1; i + HAK_HAND <= count; i++)
            empty += bottom[i] == NULL;
    return empty < count ? count - empty : 0;
}

static void add_heap(hak_snapshot *s, const hak_heap *heap) {
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        s->classes[cls].magazines += blocks_in(heap, cls);
}

static void add_heaps(hak_snapshot *s) {
    HAK_EACH_SEAT(seat) {
        s->heaps[hak_seat_state(seat)]++;
        if (hak_seat_has_heap(seat))
            add_heap(s, seat->heap);
    }
}

static void add_between(hak_snapshot *s) {
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        s->classes[cls].remote = hak_chain_blocks_away(cls);
}

void hak_snapshot_take(hak_snapshot *s) {
    memset(s, 0, sizeof *s);
    HAK_RACING_READS_BEGIN(); /* of what others write; no figure is followed anywhere */
    add_ranges(s);
    add_heaps(s);
    s->spare_pages = hak_spare_pages();
    HAK_RACING_READS_END();
    add_between(s);
    s->apart_blocks = hak_apart_count(&s->apart_bytes);
    s->trap_blocks = hak_trap_count(&s->trap_bytes);
}

/* ---- resident memory ---- */

/* Neighbours are asked about together. */
static size_t resident_in(const hak_range *r) {
    size_t bytes = 0, fresh = r->segments_fresh;
    for (size_t first = 0, end; first < fresh; first = end) {
        for (end = first; end < fresh && r->segments[end].touched != 0;)
            end++;
        if (end > first)
            bytes += hak_os_resident((char *)r->base + first * HAK_SEGMENT_SIZE,
                                     (end - first) * HAK_SEGMENT_SIZE);
        end += end == first;
    }
    return bytes;
}

size_t hak_snapshot_resident(void) {
    size_t bytes = 0;
    if (!hak_os_may_ask())
        return HAK_UNKNOWN;
    HAK_RACING_READS_BEGIN();
    HAK_EACH_RANGE(r)
        bytes += resident_in(r);
    HAK_RACING_READS_END();
    return bytes;
}

/* ---- what follows from it ---- */

size_t hak_live_blocks(const hak_class_figures *c) {
    size_t elsewhere = c->magazines + c->remote + c->guarded;
    return c->out > elsewhere ? c->out - elsewhere : 0;
}

size_t hak_returned_blocks(const hak_class_figures *c) {
    return c->carved - c->out;
}

size_t hak_fresh_blocks(const hak_snapshot *s, unsigned cls) {
    const hak_class_figures *c = &s->classes[cls];
    size_t all = hak_slabs_of(c) * hak_classes[cls].capacity;
    return all > c->carved ? all - c->carved : 0;
}

size_t hak_rounding_guess(const hak_snapshot *s, unsigned cls) {
    size_t most = hak_classes[cls].size - hak_size_below(cls) - 1;
    return hak_live_blocks(&s->classes[cls]) * most / 2;
}

/* ---- heap by heap ---- */

hak_cache_figures hak_cache_figures_of(const hak_seat *seat) {
    const hak_heap *heap = seat->heap;
    HAK_RACING_READS_BEGIN();
    hak_cache_figures cache = {.state = hak_seat_state(seat),
                               .runs = heap->cache.count,
                               .has_mail = hak_seat_has_mail(seat),
                               .thread = (size_t)seat->thread};
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++) {
        size_t blocks = blocks_in(heap, cls);
        cache.blocks += blocks;
        cache.bytes += blocks * hak_classes[cls].size;
    }
    HAK_RACING_READS_END();
    return cache;
}
