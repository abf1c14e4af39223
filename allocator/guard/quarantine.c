#include "guard/quarantine.h"

#include "base/bits.h"
#include "base/classes.h"
#include "os/os.h"
#include "os/secret.h"
#include "pages/range.h"
#include "policy/policy.h"

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

/* Quick, and not to be foreseen from outside; 1 <= below. A thread may lie where an earlier one
 * did.
 */
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

bool hak_keeps(unsigned cls) {
    return kept_of[cls] != 0;
}

void *hak_keep_back(unsigned cls, void *block) {
    void *other = swap(&kept[cls][random_below(kept_of[cls])], cls, block);
    if (HAK_UNLIKELY(other == NULL))
        atomic_fetch_add_explicit(&filled[cls], 1, memory_order_relaxed);
    return other;
}

static bool put_back(_Atomic(void *) *place, void *block) {
    void *nothing = NULL;
    return atomic_compare_exchange_strong_explicit(place, &nothing, block, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

static void visit_class(unsigned cls, bool (*stays)(unsigned cls, void *block),
                        void (*leave)(unsigned cls, void *block)) {
    for (_Atomic(void *) *place = kept[cls]; place < kept[cls] + kept_of[cls]; place++) {
        if (atomic_load_explicit(place, memory_order_relaxed) == NULL)
            continue;
        void *block = atomic_exchange_explicit(place, NULL, memory_order_acq_rel);
        if (block == NULL || (stays != NULL && stays(cls, block) && put_back(place, block)))
            continue;
        atomic_fetch_sub_explicit(&filled[cls], 1, memory_order_relaxed);
        count(cls, large_size(cls, block), (size_t)-1);
        leave(cls, block);
    }
}

void hak_kept_each(bool (*stays)(unsigned cls, void *block),
                   void (*leave)(unsigned cls, void *block)) {
    for (unsigned cls = 0; cls < HAK_CLASSES; cls++)
        if (atomic_load_explicit(&filled[cls], memory_order_relaxed) != 0)
            visit_class(cls, stays, leave);
}

size_t hak_waiting_of(unsigned cls) {
    return atomic_load_explicit(&waiting[cls], memory_order_relaxed);
}

size_t hak_waiting_large_bytes(void) {
    return atomic_load_explicit(&waiting_large, memory_order_relaxed);
}
