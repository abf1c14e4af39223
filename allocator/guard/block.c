#include "front/core.h"
#include "guard/fence.h"
#include "guard/guard.h"
#include "guard/quarantine.h"
#include "guard/record.h"
#include "guard/refuse.h"
#include "policy/policy.h"

#include <errno.h>
#include <string.h>

/* ---- free ---- */

/* Every block has the usual alignment. */
static size_t beyond_usual(size_t alignment) {
    return alignment > HAK_MIN_ALIGN ? alignment : 0;
}

static bool is_mismatched(const hak_free_call *claim, hak_facts facts) {
    if (claim->family != facts.family)
        return hak_policy_now()->guard_family != 0;
    return (claim->size != SIZE_MAX && claim->size != facts.size) ||
           (claim->alignment != 0 &&
            beyond_usual(claim->alignment) != beyond_usual((size_t)1 << facts.alignment));
}

static hak_facts facts_in_use(hak_place place, const void *block, const char *function) {
    hak_facts facts = {0};
    if (HAK_LIKELY(place.record != NULL))
        facts = atomic_load_explicit(place.record, memory_order_acquire);
    if (HAK_UNLIKELY(facts.life != HAK_IN_USE))
        hak_refuse_place(block, function, place);
    return facts;
}

/* False: another thread was quicker. */
static bool become(hak_record *record, hak_facts from, hak_facts to) {
    return atomic_compare_exchange_strong_explicit(record, &from, to, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

void hak_guard_free(void *block, const hak_free_call *claim) {
    if (block == NULL)
        return;
    int saved_errno = errno;
    hak_place place = hak_place_of(block);
    hak_facts facts = facts_in_use(place, block, claim->function), freed = facts;
    if (HAK_UNLIKELY(is_mismatched(claim, facts)))
        hak_refuse_claim(block, claim, facts);
    hak_fence_check(place, block, claim->function, facts);
    freed.life = HAK_KEPT_BACK;
    if (!become(place.record, facts, freed))
        hak_refuse_place(block, claim->function, place);
    hak_keep(place.run, place.start);
    errno = saved_errno;
}

void hak_guard_name(void *block, enum hak_family family) {
    if (block == NULL)
        return;
    hak_record *record = hak_place_of(block).record;
    hak_facts facts = atomic_load_explicit(record, memory_order_relaxed);
    facts.family = family & 3u;
    atomic_store_explicit(record, facts, memory_order_release);
}

size_t hak_guard_size(const void *block, const char *function) {
    return facts_in_use(hak_place_of(block), block, function).size;
}

/* ---- realloc ---- */

/* The block counts as not in use until its new canaries stand. Else a thread that checks all blocks
 * in use would miss the old ones. */
static void resize_in_place(hak_place place, const void *block, hak_facts facts,
                            hak_facts resized) {
    hak_facts between = facts;
    between.life = HAK_KEPT_BACK;
    if (!become(place.record, facts, between))
        hak_refuse_place(block, "realloc", place);
    if (hak_is_large(place.run))
        hak_fence_take(place.run);
    hak_fence_put(place.run, place.start, resized);
    atomic_store_explicit(place.record, resized, memory_order_release);
}

static const hak_free_call by_realloc = {"realloc", SIZE_MAX, 0, HAK_FROM_MALLOC};

static void *move(void *block, hak_facts facts, size_t size) {
    /* large blocks that grow will grow again, and copying them each time would take for ever */
    hak_wish wish = {.size = size, .family = HAK_FROM_MALLOC};
    wish.spare = size > HAK_MEDIUM_MAX && size <= PTRDIFF_MAX ? size / 4 : 0;
    void *moved = hak_guard_allocate(&wish);
    if (moved == NULL)
        return NULL;
    memcpy(moved, block, facts.size < size ? facts.size : size);
    hak_guard_free(block, &by_realloc);
    return moved;
}

/* The block moves, so that a use of the old pointer is found. A large one stays where it is if the
 * new size fits and uses half of its room or more: copying it at each step would take too long.
 * With HAKMEM_GUARD_PAGES it moves, too, for then all is to be found. Where no new block can be
 * had, a block stays if the size fits. */
void *hak_guard_resize(void *block, size_t size) {
    hak_place place = hak_place_of(block);
    hak_facts facts = facts_in_use(place, block, "realloc");
    if (is_mismatched(&by_realloc, facts))
        hak_refuse_claim(block, &by_realloc, facts);
    hak_fence_check(place, block, "realloc", facts);
    hak_facts resized = facts;
    resized.size = size & ((UINT64_C(1) << 48) - 1);
    bool can_stay = facts.size != 0 && resized.size == size && hak_fence_fits(place.run, resized);
    bool stays = hak_is_large(place.run) && can_stay && hak_policy_now()->guard_pages == 0 &&
                 size >= hak_place_room(place.run) / 2;
    void *moved = stays ? NULL : move(block, facts, size);
    if (moved != NULL || !can_stay)
        return moved;
    resize_in_place(place, block, facts, resized);
    return block;
}
