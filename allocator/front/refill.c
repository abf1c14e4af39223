/* The door behind malloc. */
#include "front/doors.h"

#include "base/classes.h"
#include "base/probe.h"
#include "bin/bin.h"
#include "front/profile.h"
#include "front/sample.h"
#include "heap/owner.h"
#include "hot/magazine.h"
#include "large/large.h"
#include "magazine/arm.h"
#include "magazine/count.h"
#include "pages/canaries.h"
#include "pages/epoch.h"
#include "pages/mark.h"
#include "pages/quota.h"
#include "pages/range.h"
#include "reclaim/background.h"
#include "reclaim/purge.h"
#include "report/server.h"
#include "sampling/sampling.h"
#include "stats/stats.h"
#include "thread/thread.h"
#include "trap/trap.h"

/* Where malloc is led away the tables have no class for the size. */
static unsigned class_for(const hak_heap *heap, size_t size) {
    unsigned cls = size <= HAK_SMALL_MAX
                       ? heap->class_of_small[(size + 15) >> HAK_SMALL_STEP_SHIFT]
                       : heap->class_of_medium[(size + 255) >> HAK_MEDIUM_STEP_SHIFT];
    return cls != HAK_CLASS_NONE ? cls : hak_class_by_search(size);
}

static void *take(hak_heap *heap, unsigned cls) {
    hak_disarm(heap, cls);
    return hak_bin_take(heap, cls);
}

/* The system refuses more. This class can have slabs that only blocks in magazines keep, and empty
 * ones of heaps without a thread. */
static HAK_COLD void *allocate_after_purge(hak_heap *heap, unsigned cls) {
    hak_purge_all(heap);
    void *block = take(heap, cls);
    return block != NULL ? block : hak_quota_refuse(hak_classes[cls].size);
}

/* Without a cold block the caller asks for another one. */
static void *allocate(hak_heap *heap, unsigned cls) {
    HAK_TALLY(heap, cls, fallback);
    void *block = take(heap, cls);
    return HAK_LIKELY(block != NULL) || hak_class_is_cold(cls) ? block
                                                               : allocate_after_purge(heap, cls);
}

static HAK_COLD void *allocate_borrowed(size_t size) {
    hak_heap *heap = hak_heap_borrow();
    if (heap == NULL)
        return hak_refuse(size);
    void *block = allocate(heap, class_for(heap, size));
    hak_heap_return();
    return HAK_HARDENED ? hak_mark_out_anywhere(block) : block;
}

static HAK_DOOR void *borrow_with_canary(size_t size) {
    size_t whole = size + hak_canary_bytes();
    if (whole > HAK_MEDIUM_MAX)
        return hak_large_malloc(size);
    return hak_canary_write(allocate_borrowed(whole), size);
}

static inline void *refill(hak_heap *heap, unsigned cls) {
    void *block = hak_armed_pop(heap, cls);
    if (block != NULL)
        return block;
    bool was_armed = heap->bins[cls].malloc_is_armed;
    block = allocate(heap, cls);
    HAK_PROBE_OF_CLASS(refill, cls, block);
    hak_purge_tick(heap, cls);
    if (was_armed && hak_purge_is_pending())
        hak_arm_malloc_again(heap, cls);
    if (hak_background_start(hak_purge_due))
        hak_owner_enters(heap); /* pthread_create allocates, and has left it */
    return block;
}

static inline void *leave_with(hak_heap *heap, void *block) {
    hak_owner_leaves(heap);
    return HAK_HARDENED ? hak_mark_out_anywhere(block) : block;
}

/* Out of line: else each malloc that is counted saves registers for it. */
static HAK_DOOR void *refill_by_owner(hak_heap *heap, size_t size) {
    if (!hak_owner_enters(heap))
        return hak_refill(size);
    return leave_with(heap, refill(heap, class_for(heap, size)));
}

static HAK_DOOR void *refill_class(hak_heap *heap, unsigned cls) {
    if (!hak_owner_enters(heap))
        return hak_refill(hak_classes[cls].size);
    return leave_with(heap, refill(heap, cls));
}

/* A block that malloc would have popped itself, were it not led here. Beyond the first range it
 * would be marked in the wrong place: pages/mark.h. */
static inline void *refill_led_away(hak_heap *heap, unsigned cls) {
    bool elsewhere = HAK_HARDENED && hak_range_count() > 1;
    if (HAK_LIKELY(!hak_malloc_is_led_away(heap, cls)) && !elsewhere) {
        void *block = hak_magazine_pop(heap, cls, HAK_IS_COUNTED);
        if (HAK_LIKELY(block != NULL))
            return block;
    }
    HAK_NOT_A_CONDITIONAL_TAIL_CALL();
    return refill_class(heap, cls);
}

/* A block that has no room for a canary becomes a large one, which has none. */
static inline void *refill_with_canary(hak_heap *heap, size_t size) {
    size_t whole = size + hak_canary_bytes();
    if (HAK_UNLIKELY(whole > HAK_MEDIUM_MAX))
        return hak_large_malloc(size);
    return hak_canary_write(refill_led_away(heap, hak_sampling_class(whole)), size);
}

/* The pool of traps is full at times, and takes no block that is longer than a page. */
static void *take_picked(enum hak_pick pick, size_t size) {
    if (pick == HAK_PICK_NONE)
        return NULL;
    return pick == HAK_PICK_SAMPLE ? hak_sample_take(size)
                                   : hak_trap_take(size, pick == HAK_PICK_TRAP_RIGHT);
}

static HAK_COLD void *refill_picked(hak_heap *heap, size_t size) {
    hak_profile_look();
    if (!hak_owner_enters(heap))
        return hak_refill(size);
    enum hak_pick pick = hak_sampling_pick(heap);
    hak_owner_leaves(heap);
    hak_server_look();
    if (HAK_HARDENED && heap->sampled.counted)
        return refill_with_canary(heap, size);
    void *block = take_picked(pick, size);
    return block != NULL ? block : refill_by_owner(heap, size);
}

/* Where the hot path does not count, each malloc of a heap that is counted comes here. */
static HAK_DOOR void *refill_counted(hak_heap *heap, size_t size) {
    if (HAK_HARDENED)
        return refill_with_canary(heap, size);
    if (HAK_UNLIKELY(!hak_count_passes(heap, size)))
        return refill_picked(heap, size);
    return refill_led_away(heap, hak_sampling_class(size));
}

static inline void *refill_anyhow(hak_heap *heap, size_t size) {
    if (HAK_UNLIKELY(hak_sampling_changed(heap)))
        return refill_picked(heap, size);
    if (HAK_UNLIKELY(hak_is_led_to_count(heap)))
        return refill_counted(heap, size);
    if (hak_count_picks(heap, size))
        return refill_picked(heap, size);
    return refill_by_owner(heap, size);
}

/* A thread's first malloc. */
static HAK_COLD void *refill_first(size_t size) {
    hak_heap *heap = hak_heap_self();
    if (HAK_HARDENED && heap == NULL && hak_canary_bytes() != 0)
        return borrow_with_canary(size);
    return heap != NULL ? refill_anyhow(heap, size) : allocate_borrowed(size);
}

void *hak_refill(size_t size) {
    hak_heap *heap = hak_this_thread.owned;
    if (HAK_UNLIKELY(heap == NULL))
        return refill_first(size);
    return refill_anyhow(heap, size);
}

/* A heap that counts must see each malloc, and a canary wants room. */
void *hak_refill_cold(unsigned cls) {
    hak_heap *heap = hak_heap_self();
    if (heap == NULL || hak_sampling_changed(heap) || heap->sampled.counted ||
        !hak_sample_lets_hint())
        return NULL;
    return refill_led_away(heap, cls);
}
