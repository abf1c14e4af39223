#include "guard/quarantine.h"

#include "base/bits.h"
#include "base/classes.h"
#include "front/core.h"
#include "guard/fence.h"
#include "guard/refuse.h"
#include "os/fault.h"
#include "os/os.h"
#include "os/secret.h"
#include "pages/range.h"
#include "policy/policy.h"
#include "trap/canary.h"

#include <string.h>

enum {
    MOST_KEPT = 4096,      /* blocks of a class in quarantine */
    LARGE_KEPT = 64,       /* large ones: they hold address space alone */
    SHUFFLED = 16,         /* blocks of a class from which the next one is drawn, ... */
    SHUFFLED_BYTES = 32768 /* ... as long as they take no more than this */
};

static uint16_t kept_of[HAK_CLASSES], shuffled_of[HAK_CLASSES];
static _Atomic(void *) kept[HAK_CLASSES][MOST_KEPT], shuffled[HAK_CLASSES][SHUFFLED];
static _Atomic unsigned filled[HAK_CLASSES]; /* places of `kept` that hold a block */
static _Atomic size_t waiting[HAK_CLASSES], waiting_large;

/* Quick, and not to be foreseen from outside; 1 <= below. The seed has the time in it, as a later
 * thread may have the same addresses. */
static size_t random_below(size_t below) {
    static HAK_TLS uint64_t state; /* 0: not seeded yet */
    if (state == 0)
        state = hak_mixed(hak_secret ^ (uintptr_t)&state ^ hak_os_now_us()) | 1;
    return hak_random_up_to(&state, below);
}

static uint16_t at_most(size_t value, size_t limit) {
    return (uint16_t)(value < limit ? value : limit);
}

void hak_quarantine_set_up(void) {
    const hak_policy *policy = hak_policy_now();
    size_t bytes = policy->guard_quarantine_kib * 1024;
    kept_of[HAK_CLASS_NONE] = bytes != 0 ? LARGE_KEPT : 0;
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++) {
        kept_of[cls] = at_most(bytes / hak_classes[cls].size, MOST_KEPT);
        if (bytes != 0 && kept_of[cls] == 0)
            kept_of[cls] = 1;
        if (policy->guard_shuffle != 0)
            shuffled_of[cls] = at_most(SHUFFLED_BYTES / hak_classes[cls].size, SHUFFLED);
    }
}

static size_t large_size(unsigned cls, const void *block) {
    return cls == HAK_CLASS_NONE ? hak_run_of(block)->large_size : 0;
}

static void count(unsigned cls, size_t large, size_t sign) {
    atomic_fetch_add_explicit(&waiting[cls], sign, memory_order_relaxed);
    atomic_fetch_add_explicit(&waiting_large, sign * large, memory_order_relaxed);
}

/* Reads the size of a large block before the block takes its place: from then on another thread may
 * draw it, free it and make its pages something else. Nothing is counted where the block takes the
 * place of one of its size. */
static void *swap(_Atomic(void *) *place, unsigned cls, void *block) {
    size_t large = large_size(cls, block);
    void *other = atomic_exchange_explicit(place, block, memory_order_acq_rel);
    if (HAK_UNLIKELY(other == NULL || cls == HAK_CLASS_NONE)) {
        count(cls, large, 1);
        if (other != NULL)
            count(cls, large_size(cls, other), (size_t)-1);
    }
    return other;
}

void *hak_shuffle(unsigned cls, void *block) {
    if (shuffled_of[cls] < 2)
        return block;
    return swap(&shuffled[cls][random_below(shuffled_of[cls])], cls, block);
}

/* ---- freed blocks ---- */

/* What a freed block is filled with: read as a pointer it is none of x86-64's. */
enum { FREED = 0xdb };

/* The block at `start` in quarantine; a small one must hold its pattern. */
static hak_place look_at(unsigned cls, void *start) {
    hak_place place = hak_place_at(start);
    size_t room = cls != HAK_CLASS_NONE ? hak_place_room(place.run) : 0;
    size_t at = hak_first_other(start, FREED, room);
    if (HAK_UNLIKELY(at != room)) {
        hak_facts facts = atomic_load_explicit(place.record, memory_order_relaxed);
        hak_refuse_written(place.start + hak_front_of(place.run, facts), "free", facts,
                           place.start + at);
    }
    return place;
}

/* Gives a block from the quarantine back to the core. If the system refuses to make the pages of a
 * large block accessible again, the block is never used again. */
static void let_go(unsigned cls, void *start) {
    hak_place place = look_at(cls, start);
    if (hak_is_large(place.run) && !hak_fence_take(place.run))
        return;
    hak_facts facts = atomic_load_explicit(place.record, memory_order_relaxed);
    facts.life = HAK_GONE;
    atomic_store_explicit(place.record, facts, memory_order_release);
    hak_core_free(start);
}

/* Takes the memory of a large block, and access to it: whoever touches it now faults. True: both
 * worked. */
static bool seal(const hak_slab *run) {
    return hak_os_purge((void *)run->start, hak_place_size(run)) &&
           hak_os_protect((void *)run->start, hak_place_size(run));
}

/* Returns the block that must leave for it, or NULL. */
static void *keep_back(unsigned cls, void *start) {
    void *other = swap(&kept[cls][random_below(kept_of[cls])], cls, start);
    if (HAK_UNLIKELY(other == NULL))
        atomic_fetch_add_explicit(&filled[cls], 1, memory_order_relaxed);
    return other;
}

void hak_keep(const hak_slab *run, void *start) {
    unsigned cls = run->cls;
    if (!hak_is_large(run))
        memset(start, FREED, hak_place_room(run));
    bool stays = kept_of[cls] != 0 && (!hak_is_large(run) || seal(run));
    void *other = stays ? keep_back(cls, start) : start;
    if (other != NULL)
        let_go(cls, other);
}

static bool put_back(_Atomic(void *) *place, void *block) {
    void *nothing = NULL;
    return atomic_compare_exchange_strong_explicit(place, &nothing, block, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

static void visit_class(unsigned cls, bool leave) {
    for (_Atomic(void *) *place = kept[cls]; place < kept[cls] + kept_of[cls]; place++) {
        if (atomic_load_explicit(place, memory_order_relaxed) == NULL)
            continue;
        void *block = atomic_exchange_explicit(place, NULL, memory_order_acq_rel);
        if (block == NULL)
            continue;
        look_at(cls, block);
        if (!leave && put_back(place, block))
            continue;
        atomic_fetch_sub_explicit(&filled[cls], 1, memory_order_relaxed);
        count(cls, large_size(cls, block), (size_t)-1);
        let_go(cls, block);
    }
}

void hak_kept_look(bool leave) {
    for (unsigned cls = 0; cls < HAK_CLASSES; cls++)
        if (atomic_load_explicit(&filled[cls], memory_order_relaxed) != 0)
            visit_class(cls, leave);
}

size_t hak_waiting_of(unsigned cls) {
    return atomic_load_explicit(&waiting[cls], memory_order_relaxed);
}

size_t hak_waiting_large_bytes(void) {
    return atomic_load_explicit(&waiting_large, memory_order_relaxed);
}
