/* A look at all blocks, at the program's end or when it is asked for. */
#include "base/bits.h"
#include "base/classes.h"
#include "guard/alive.h"
#include "guard/fence.h"
#include "guard/quarantine.h"
#include "guard/refuse.h"
#include "os/lock.h"
#include "pages/range.h"
#include "pages/segment.h"
#include "policy/policy.h"

typedef struct damage {
    const void *block; /* NULL: none */
    hak_facts facts;
    const void *at;
} damage;

/* A block that changes hands in the meantime is left alone. */
static damage look_at(const hak_slab *slab, const void *start) {
    hak_place place = hak_place_at(start);
    if (place.record == NULL || place.run != slab)
        return (damage){0};
    hak_facts facts = atomic_load_explicit(place.record, memory_order_acquire);
    const void *at = facts.life == HAK_IN_USE ? hak_find_overflow(place, facts) : NULL;
    const char *block = place.start + hak_front_of(slab, facts);
    return (damage){at != NULL ? block : NULL, facts, at};
}

static damage look_through(const hak_slab *slab) {
    const hak_class *of = &hak_classes[slab->cls];
    damage found = {0};
    for (unsigned i = 0; i < slab->carved && i < of->capacity && found.block == NULL; i++)
        found = look_at(slab, (const void *)(slab->start + i * (size_t)of->size));
    return found;
}

/* Under the lock no slab becomes free pages, and so none a large block, which would fault: another
 * thread may free the last block of the slab just now. Large blocks are left out for that reason;
 * they have a wall behind them. */
static void check_page(const hak_range *r, size_t page) {
    damage found = {0};
    hak_lock_take(&hak_segment_lock);
    if (r->slabs[page].kind == HAK_RUN_SLAB)
        found = look_through(&r->slabs[page]);
    hak_lock_give(&hak_segment_lock);
    if (found.block != NULL)
        hak_refuse_overflow(found.block, "exit", found.facts, found.at);
}

static void check_range(const hak_range *r) {
    for (size_t page = 0; page < r->segments_fresh * HAK_PAGES_PER_SEGMENT; page++)
        if (r->slabs[page].kind == HAK_RUN_SLAB)
            check_page(r, page);
}

void hak_guard_sweep(void) {
    hak_kept_look(false);
    HAK_RACING_READS_BEGIN();
    for (size_t i = 0; i < hak_range_count(); i++)
        check_range(&hak_ranges[i]);
    HAK_RACING_READS_END();
}

void hak_guard_discount(hak_snapshot *s) {
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        s->classes[cls].guarded = hak_waiting_of(cls);
    s->large_guarded = hak_least(hak_waiting_of(HAK_CLASS_NONE), s->large_blocks);
    s->large_guarded_bytes = hak_least(hak_waiting_large_bytes(), s->large_bytes);
}

/* A signal handler that calls exit may have interrupted this thread while it held a lock. */
static HAK_AT_UNLOAD void look_at_exit(void) {
    if (hak_locks_held != 0)
        return;
    if (hak_policy_now()->guard_sweep != 0)
        hak_guard_sweep();
    hak_alive_look();
}
