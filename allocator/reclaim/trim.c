#include "reclaim/trim.h"

#include "bin/bin.h"
#include "heap/seat.h"
#include "magazine/magazine.h"
#include "pages/run_cache.h"
#include "slab/free_pages.h"
#include "slab/slab.h"
#include "stats/stats.h"

static void spend(size_t *budget, size_t cost) {
    *budget -= cost < *budget ? cost : *budget;
}

/* ---- a slab grows old ---- */

/* Makes a slab one epoch older, and purges what has waited long enough. True: more can go later. */
static bool age(hak_heap *heap, hak_slab *slab, size_t *budget) {
    size_t bytes = hak_slab_purge_tail(slab);
    bool wanted = slab->pulse != HAK_PULSE_PURGED && hak_slab_has_free_page(slab);
    bool waits = wanted && !hak_slab_has_waited(heap, slab);
    if (waits)
        slab->pulse = HAK_PULSE_QUIET;
    else if (wanted)
        bytes += hak_slab_purge_free_blocks(slab);
    HAK_COUNT(trimmed_bytes, bytes);
    spend(budget, bytes != 0 ? HAK_TRIM_SHARE : 1);
    return waits;
}

/* Releases an empty slab if it has waited for an epoch. True: it still waits. */
static bool age_empty(hak_heap *heap, hak_slab *slab, size_t *budget) {
    bool goes = hak_slab_has_waited(heap, slab);
    spend(budget, goes ? HAK_TRIM_SHARE : 1);
    if (goes)
        hak_slab_release(heap, slab);
    else
        slab->pulse = HAK_PULSE_QUIET;
    return !goes;
}

/* Ages slabs from where the last step ended. Meanwhile slabs may have left the list:
 * hak_slab_unlink moves trim.next along when it points to one that leaves. */
static void age_some(hak_heap *heap, size_t *budget) {
    while (heap->trim.next != NULL && *budget > 0) {
        hak_slab *slab = heap->trim.next;
        heap->trim.next = slab->next;
        bool more = slab->used == 0 ? age_empty(heap, slab, budget) : age(heap, slab, budget);
        heap->trim.more |= more;
    }
}

/* ---- whole heaps ---- */

void hak_heap_release_empty(hak_heap *heap) {
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        hak_slab_release_empty(heap, cls);
    hak_run_cache_empty(heap, false);
}

void hak_heap_flush(hak_heap *heap) {
    hak_drain(heap);
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        hak_bin_flush(heap, cls);
    hak_heap_release_empty(heap);
}

/* ---- one epoch, in steps ---- */

static void begin_class(hak_heap *heap, unsigned cls) {
    heap->trim.cls = (uint8_t)(cls < HAK_CLASSES ? cls : 0);
    heap->trim.next = heap->bins[heap->trim.cls].partial;
}

static void begin(hak_heap *heap, uint32_t epoch) {
    atomic_store_explicit(&heap->trim.epoch, epoch, memory_order_relaxed);
    heap->crowded = false;
    heap->trim.more = false;
    hak_run_cache_empty(heap, true);
    begin_class(heap, 1);
}

static void empty_class(hak_heap *heap, unsigned cls, size_t *budget) {
    spend(budget, 1 + hak_magazine_count(heap, cls) / HAK_TRIM_SHARE);
    hak_bin_flush(heap, cls);
    hak_magazine_shrink(heap, cls, heap->bins[cls].depth / 2);
}

/* The slabs have aged; now the magazine is emptied into them. In this order, a block that comes
 * back makes its slab young again, and slabs in use stay. A class that is idle has an empty
 * magazine at the next epoch, so its slabs grow old. */
static void end_class(hak_heap *heap, unsigned cls, size_t *budget) {
    if (!heap->robbed)
        empty_class(heap, cls, budget);
    begin_class(heap, cls + 1);
}

static bool take_back_some(hak_heap *heap, size_t *budget) {
    size_t carriers = *budget / HAK_TRIM_SHARE, left = carriers;
    bool all = hak_drain_some(heap, &left);
    spend(budget, (carriers - left) * HAK_TRIM_SHARE);
    return all;
}

static void begin_when_due(hak_heap *heap, uint32_t epoch, size_t *budget) {
    if (heap->trim.cls == 0 && hak_trim_epoch(heap) != epoch && take_back_some(heap, budget))
        begin(heap, epoch);
}

enum hak_trimmed hak_heap_trim(hak_heap *heap, uint32_t epoch, size_t *budget) {
    begin_when_due(heap, epoch, budget);
    while (heap->trim.cls != 0 && *budget > 0) {
        age_some(heap, budget);
        if (heap->trim.next == NULL)
            end_class(heap, heap->trim.cls, budget);
    }
    if (heap->trim.cls != 0 || hak_trim_epoch(heap) != epoch)
        return HAK_TRIM_GOES_ON;
    return heap->trim.more ? HAK_TRIM_LATER : HAK_TRIM_NOTHING;
}

/* Whether the heap holds blocks that this trim will put back into slabs it has looked at by then.
 * Asked after the mail was taken, so that none can arrive between the question and the taking. */
static bool has_blocks(const hak_heap *heap) {
    return hak_seat_has_mail(heap->seat) || !hak_magazines_are_empty(heap);
}

/* Magazines are asked again: a thread may have used the heap between two steps. */
enum hak_trimmed hak_heap_trim_idle(hak_heap *heap, uint32_t epoch, size_t *budget) {
    begin_when_due(heap, epoch, budget);
    bool had_blocks = has_blocks(heap);
    enum hak_trimmed left = hak_heap_trim(heap, epoch, budget);
    heap->trim.more |= had_blocks;
    bool settled = left == HAK_TRIM_NOTHING && !had_blocks && hak_magazines_are_empty(heap);
    heap->seat->settled = settled;
    if (settled)
        hak_magazines_purge(heap);
    return left == HAK_TRIM_GOES_ON || settled ? left : HAK_TRIM_LATER;
}

/* ---- at once ---- */

/* A slab that was purged, and not used since, is passed over. */
static size_t purge_now(hak_slab *slab) {
    size_t bytes = slab->pulse != HAK_PULSE_PURGED ? hak_slab_purge_free_blocks(slab) : 0;
    return bytes + hak_slab_purge_tail(slab);
}

static size_t purge_slabs_now(hak_heap *heap) {
    size_t bytes = 0;
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        for (hak_slab *slab = heap->bins[cls].partial; slab != NULL; slab = slab->next)
            bytes += purge_now(slab);
    HAK_COUNT(trimmed_bytes, bytes);
    return bytes;
}

size_t hak_heap_trim_now(hak_heap *heap) {
    hak_heap_flush(heap);
    size_t bytes = purge_slabs_now(heap);
    hak_magazines_purge(heap);
    return bytes;
}

size_t hak_heap_trim_robbed(hak_heap *heap) {
    hak_drain(heap);
    hak_heap_release_empty(heap);
    return purge_slabs_now(heap);
}
