#include "heap/heap.h"

#include "base/classes.h"
#include "heap/owner.h"
#include "heap/seat.h"
#include "magazine/magazine.h"
#include "magazine/mode.h"
#include "os/os.h"
#include "os/secret.h"
#include "pages/heap_room.h"
#include "pages/mark.h"
#include "pages/range.h"
#include "pages/run_cache.h"
#include "slab/slab.h"
#include "stats/stats.h"

/* ---- making ---- */

static hak_seat *make_seat(void) {
    hak_lock_take(&hak_registry_lock);
    hak_seat *seat = hak_heap_room_add();
    hak_secret_choose(); /* before the first chain to it */
    if (seat != NULL)
        hak_seat_register(seat);
    hak_lock_give(&hak_registry_lock);
    return seat;
}

/* Makes the heap of a seat that has none. */
static enum hak_commit make_heap(hak_seat *seat) {
    hak_heap *heap = seat->heap;
    enum hak_commit done = hak_heap_room_open(seat);
    if (done == HAK_COMMITTED && HAK_HARDENED && !hak_marks_tell(heap->marks))
        done = HAK_REFUSED;
    if (done != HAK_COMMITTED)
        return done;
    heap->seat = seat;
    heap->large_range = &hak_ranges[0];
    heap->cache.runs[0] = (hak_slab *)&hak_run_cache_none;
    hak_classes_fill(heap->class_of_small, heap->class_of_medium);
    hak_magazines_lay_out(heap);
    HAK_COUNT(heaps_made, 1);
    return HAK_COMMITTED;
}

/* ---- heaps without a thread ---- */

/* What the last thread needed says little about the next one: it starts small again, but with
 * blocks of each class that was in use, and not of a coarser one. */
static void forget(hak_heap *heap) {
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++) {
        if (heap->bins[cls].batch > HAK_COARSE_BLOCKS)
            heap->bins[cls].batch = HAK_COARSE_BLOCKS;
        if (heap->bins[cls].depth > hak_classes[cls].depth)
            hak_magazine_shrink(heap, cls, 0);
        hak_mode_note(heap, cls, HAK_BEGAN_ANEW);
    }
}

static hak_seat *take_seat(bool *bare) {
    hak_seat *seat = hak_seat_take(NULL, bare);
    if (seat == NULL) {
        *bare = true;
        return make_seat();
    }
    HAK_COUNT(heaps_reused, !*bare);
    return seat;
}

/* Where something else lies in a heap's place, its seat stays VISITED for ever. */
static hak_seat *take_seat_with_heap(void) {
    bool bare;
    hak_seat *seat;
    enum hak_commit done = HAK_TAKEN;
    while (done == HAK_TAKEN && (seat = take_seat(&bare)) != NULL)
        done = bare ? make_heap(seat) : HAK_COMMITTED;
    if (done == HAK_REFUSED)
        hak_seat_leave(seat, HAK_HEAP_BARE);
    else if (done == HAK_COMMITTED && !bare)
        forget(seat->heap);
    return done == HAK_COMMITTED ? seat : NULL;
}

hak_heap *hak_heap_obtain(void) {
    hak_seat *seat = take_seat_with_heap();
    if (seat == NULL)
        return NULL;
    seat->settled = false;
    seat->heap->busy = true;
    hak_seat_set_state(seat, HAK_HEAP_ACTIVE);
    return seat->heap;
}

/* True when nobody would miss the heap: its next thread can begin with a new one. */
static bool has_nothing(const hak_heap *heap) {
    unsigned cls = 1;
    while (cls < HAK_CLASSES && heap->bins[cls].partial == NULL)
        cls++;
    return cls == HAK_CLASSES && !hak_seat_has_mail(heap->seat) && hak_magazines_are_empty(heap);
}

/* In a research build what the heap has counted stays. */
static void leave(hak_seat *seat, bool memory_goes) {
    if (HAK_RESEARCH && memory_goes)
        hak_tallies_keep(seat->heap->tallies);
    if (memory_goes)
        hak_heap_room_close(seat);
    hak_seat_leave(seat, memory_goes ? HAK_HEAP_BARE : HAK_HEAP_IDLE);
}

/* No reclaimer may come to a heap whose memory is gone: none is at it while the lock is held, and
 * the next one sees that the heap has no owner. */
static bool hide(hak_seat *seat) {
    if (!hak_lock_try(&hak_reclaim_lock))
        return false;
    hak_seat_set_state(seat, HAK_HEAP_VISITED);
    hak_lock_give(&hak_reclaim_lock);
    return true;
}

void hak_heap_leave(hak_heap *heap, bool for_long) {
    leave(heap->seat, for_long && has_nothing(heap) && hide(heap->seat));
}

/* Where there is nothing to do nobody reads the heap itself. */
static bool needs_visit(const hak_seat *seat) {
    enum hak_heap_state state = hak_seat_state(seat);
    if (state == HAK_HEAP_IDLE)
        return !seat->settled || hak_seat_has_mail(seat);
    return state == HAK_HEAP_BARE && hak_seat_has_mail(seat);
}

/* False: it has nothing to do, or no memory, or somebody else has it. */
static bool begin_visit(hak_seat *seat) {
    bool bare;
    if (!needs_visit(seat) || hak_seat_take(seat, &bare) == NULL)
        return false;
    enum hak_commit done = bare ? make_heap(seat) : HAK_COMMITTED;
    if (done == HAK_REFUSED)
        hak_seat_leave(seat, HAK_HEAP_BARE);
    return done == HAK_COMMITTED;
}

size_t hak_heap_each_idle(size_t (*visit)(hak_heap *heap, void *context), void *context) {
    size_t sum = 0;
    HAK_EACH_SEAT(seat)
        if (begin_visit(seat)) {
            sum += visit(seat->heap, context);
            leave(seat, seat->settled && has_nothing(seat->heap));
        }
    return sum;
}

static bool adopt(hak_heap *heap, unsigned cls) {
    hak_slab *slab = hak_seat_adopt(heap, cls);
    if (slab == NULL)
        return false;
    hak_slab_link(heap, slab);
    HAK_COUNT(slabs_adopted, 1);
    return true;
}

hak_slab *hak_heap_slab(hak_heap *heap, unsigned cls) {
    if (heap->bins[cls].partial != NULL || adopt(heap, cls))
        return heap->bins[cls].partial;
    return hak_slab_make(heap, cls);
}
