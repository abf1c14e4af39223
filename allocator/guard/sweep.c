/* A look at all blocks, at the program's end or when it is asked for. */
#include "base/classes.h"
#include "guard/block.h"
#include "guard/quarantine.h"
#include "pages/range.h"
#include "policy/policy.h"

/* A block that changes hands in the meantime is left alone. */
static void check_block(const hak_slab *slab, const void *block) {
    hak_place place = hak_place_of(block);
    if (place.record == NULL || place.run != slab)
        return;
    hak_facts facts = atomic_load_explicit(place.record, memory_order_acquire);
    if (facts.life == HAK_IN_USE)
        hak_check_fence(place, block, "exit", facts);
}

/* Large blocks have a wall behind them; and one that another thread frees just now would fault. */
static void check_slab(const hak_slab *slab) {
    const hak_class *of = &hak_classes[slab->cls];
    for (unsigned i = 0; i < slab->carved && i < of->capacity; i++)
        check_block(slab, (const void *)(slab->start + i * (size_t)of->size));
}

static void check_range(const hak_range *r) {
    for (size_t page = 0; page < r->segments_fresh * HAK_PAGES_PER_SEGMENT; page++)
        if (r->slabs[page].kind == HAK_RUN_SLAB)
            check_slab(&r->slabs[page]);
}

void hak_guard_sweep(void) {
    hak_kept_each(hak_stays, hak_let_go);
    for (size_t i = 0; i < hak_range_count(); i++)
        check_range(&hak_ranges[i]);
}

void hak_guard_discount(hak_usage *usage) {
    hak_waiting waiting = hak_waiting_now();
    size_t bytes = waiting.bytes < usage->used ? waiting.bytes : usage->used;
    size_t large = waiting.large < usage->large ? waiting.large : usage->large;
    usage->used -= bytes;
    usage->large -= large;
    usage->free += bytes - large;
    usage->blocks -= waiting.blocks < usage->blocks ? waiting.blocks : usage->blocks;
}

static HAK_AT_UNLOAD void sweep_at_exit(void) {
    if (hak_policy_now()->guard_sweep != 0)
        hak_guard_sweep();
}
