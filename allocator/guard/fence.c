#include "guard/fence.h"

#include "base/bits.h"
#include "guard/pattern.h"
#include "guard/refuse.h"
#include "os/fault.h"
#include "os/os.h"
#include "policy/policy.h"

#include <string.h>

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

void hak_fence_put(const hak_slab *run, char *start, hak_facts facts) {
    size_t front = hak_front_of(run, facts), end = end_of(run, facts);
    size_t behind = front + facts.size;
    int canary = hak_canary(start);
    memset(start, canary, front);
    memset(start + behind, canary, end - behind);
    if (front != 0)
        start[front - 1] = (char)hak_canary_beside(canary);
    if (behind != end)
        start[behind] = (char)hak_canary_beside(canary);
    if (hak_is_large(run))
        hak_os_protect(start + end, hak_place_size(run) - end);
}

bool hak_fence_take(const hak_slab *run) {
    return hak_os_unprotect((void *)run->start, hak_place_size(run));
}

static bool is_still(hak_place place, hak_facts facts) {
    hak_facts now = atomic_load_explicit(place.record, memory_order_acquire);
    return memcmp(&now, &facts, sizeof now) == 0;
}

static char *first_damaged(char *from, char *to, int canary) {
    return from + hak_first_other(from, canary, (size_t)(to - from));
}

static bool beside_is_whole(const char *at, int canary) {
    return (unsigned char)*at == hak_canary_beside(canary);
}

/* Both return `to` when nothing is damaged. */
static char *first_in_front(char *from, char *to, int canary) {
    if (from == to)
        return to;
    char *at = first_damaged(from, to - 1, canary);
    return at == to - 1 && beside_is_whole(at, canary) ? to : at;
}

static char *first_behind(char *from, char *to, int canary) {
    return from == to || beside_is_whole(from, canary)
               ? first_damaged(from + (from != to), to, canary)
               : from;
}

/* Another thread may free the block meanwhile, and its slab may go back to its segment. Pages
 * without a slab have room for 0 bytes. So an end that lies before the size of the block says that
 * this has happened. */
const void *hak_find_overflow(hak_place place, hak_facts facts) {
    char *block = place.start + hak_front_of(place.run, facts);
    char *behind = block + facts.size, *end = place.start + end_of(place.run, facts);
    if (HAK_UNLIKELY(end < behind))
        return NULL;
    int canary = hak_canary(place.start);
    char *at = first_in_front(place.start, block, canary);
    if (at == block)
        at = first_behind(behind, end, canary);
    return HAK_UNLIKELY(at != end) && is_still(place, facts) ? at : NULL;
}

void hak_fence_check(hak_place place, const void *block, const char *function, hak_facts facts) {
    const void *at = hak_find_overflow(place, facts);
    if (HAK_UNLIKELY(at != NULL))
        hak_refuse_overflow(block, function, facts, at);
}
