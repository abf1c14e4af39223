#include "guard/fence.h"

#include "base/bits.h"
#include "guard/refuse.h"
#include "os/fault.h"
#include "os/os.h"
#include "policy/policy.h"
#include "trap/canary.h"

#include <string.h>

static _Atomic size_t walls; /* of large blocks, in use or in quarantine */

bool hak_fence_has_walls(void) {
    return atomic_load_explicit(&walls, memory_order_relaxed) < HAK_MOST_WALLS;
}

/* A large block of no bytes ends at its wall. */
static size_t least_canary(const hak_slab *run, hak_facts facts) {
    return hak_is_large(run) && facts.size == 0 ? 0 : hak_policy_now()->guard_canary;
}

/* Where the canary behind a block ends, counted from its start. */
static size_t end_of(const hak_slab *run, hak_facts facts) {
    if (!hak_is_large(run))
        return hak_place_room(run);
    size_t bytes = hak_front_of(run, facts) + facts.size + least_canary(run, facts);
    return hak_round_up(bytes, hak_os_page_size());
}

bool hak_fence_fits(const hak_slab *run, hak_facts facts) {
    size_t room = hak_place_room(run);
    size_t more = hak_front_of(run, facts) + least_canary(run, facts);
    return more <= room && facts.size <= room - more && end_of(run, facts) <= room;
}

static hak_fenced fenced(const hak_slab *run, char *start, hak_facts facts) {
    char *block = start + hak_front_of(run, facts);
    return (hak_fenced){start, block, block + facts.size, start + end_of(run, facts)};
}

void hak_fence_put(const hak_slab *run, char *start, hak_facts facts) {
    hak_canary_put(fenced(run, start, facts));
    size_t end = end_of(run, facts);
    if (!hak_is_large(run))
        return;
    atomic_fetch_add_explicit(&walls, 1, memory_order_relaxed);
    hak_os_protect(start + end, hak_place_size(run) - end);
}

bool hak_fence_take(const hak_slab *run) {
    bool taken = hak_os_unprotect((void *)run->start, hak_place_size(run));
    atomic_fetch_sub_explicit(&walls, taken, memory_order_relaxed);
    return taken;
}

static bool is_still(hak_place place, hak_facts facts) {
    hak_facts now = atomic_load_explicit(place.record, memory_order_acquire);
    return memcmp(&now, &facts, sizeof now) == 0;
}

/* Another thread may free the block meanwhile, and its slab may go back to its segment. Pages
 * without a slab have room for 0 bytes. So an end that lies before the size of the block says that
 * this has happened. */
static const void *overflow_by(char *damage(hak_fenced f), hak_place place, hak_facts facts) {
    hak_fenced f = fenced(place.run, place.start, facts);
    if (HAK_UNLIKELY(f.end < f.behind))
        return NULL;
    const char *at = damage(f);
    return HAK_UNLIKELY(at != f.end) && is_still(place, facts) ? at : NULL;
}

/* To read a large block would fault where another thread frees it just now. */
const void *hak_find_overflow(hak_place place, hak_facts facts) {
    if (!hak_is_large(place.run))
        return overflow_by(hak_canary_damage, place, facts);
    return hak_os_may_ask() ? overflow_by(hak_canary_peek_damage, place, facts) : NULL;
}

void hak_fence_check(hak_place place, const void *block, const char *function, hak_facts facts) {
    const void *at = overflow_by(hak_canary_damage, place, facts);
    if (HAK_UNLIKELY(at != NULL))
        hak_refuse_overflow(block, function, facts, at);
}
