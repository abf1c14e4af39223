/* A look at all blocks, at the program's end or when it is asked for: for canaries that were
 * written to, and for leaks. */
#include "guard/alive.h"

#include "base/bits.h"
#include "guard/fence.h"
#include "guard/quarantine.h"
#include "guard/refuse.h"
#include "leaks/leaks.h"
#include "leaks/origins.h"
#include "os/lock.h"
#include "os/stack.h"
#include "policy/policy.h"

/* ---- leaks ---- */

_Atomic bool hak_alive_noted;

/* After the constructors that tell the unwinder of a static program where its tables are. */
static HAK_LATE_AT_LOAD void begin(void) {
    if (!hak_leaks_wanted() || !hak_origins_open())
        return;
    hak_os_stack_start();
    atomic_store_explicit(&hak_alive_noted, true, memory_order_release);
}

void hak_alive_note(hak_place place) {
    atomic_store_explicit(hak_origin_at(place), hak_origin_here(), memory_order_relaxed);
}

static void add(const hak_slab *run, size_t index, const char *start, void *context) {
    (void)index, (void)context;
    hak_place place = hak_place_at(start);
    if (place.record == NULL || place.run != run)
        return;
    hak_facts facts = atomic_load_explicit(place.record, memory_order_acquire);
    if (facts.life == HAK_IN_USE)
        hak_suspects_add(start + hak_front_of(run, facts), facts.size,
                         atomic_load_explicit(hak_origin_at(place), memory_order_relaxed));
}

static bool lives(const hak_suspect *s) {
    hak_record *record = hak_place_of((const void *)s->start).record;
    if (record == NULL)
        return false;
    hak_facts facts = atomic_load_explicit(record, memory_order_acquire);
    return facts.life == HAK_IN_USE && facts.size == s->size;
}

static size_t tell(void) {
    return hak_leaks_tell(lives);
}

static void look_for_leaks(void) {
    static const hak_leaks_from from = {add, tell};
    if (hak_leaks_wanted())
        hak_leaks_look(&from);
}

/* ---- canaries ---- */

typedef struct damage {
    const void *block; /* NULL: none */
    hak_facts facts;
    const void *at;
} damage;

/* A block that changes hands in the meantime is left alone. */
static void look_at(const hak_slab *run, size_t index, const char *start, void *context) {
    (void)index;
    damage *first = context;
    hak_place place = hak_place_at(start);
    if (first->block != NULL || place.record == NULL || place.run != run)
        return;
    hak_facts facts = atomic_load_explicit(place.record, memory_order_acquire);
    const void *at = facts.life == HAK_IN_USE ? hak_find_overflow(place, facts) : NULL;
    if (at != NULL)
        *first = (damage){place.start + hak_front_of(run, facts), facts, at};
}

/* Ends the program after the walk, not under the lock that keeps slabs from becoming free pages. */
void hak_guard_sweep(void) {
    damage first = {0};
    hak_kept_look(false);
    HAK_RACING_READS_BEGIN();
    hak_blocks_each(look_at, &first);
    HAK_RACING_READS_END();
    if (first.block != NULL)
        hak_refuse_overflow(first.block, "exit", first.facts, first.at);
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
    look_for_leaks();
}
