#include "pages/quota.h"

#include "os/tell.h"
#include "pages/segment.h"
#include "policy/policy.h"
#include "stats/stats.h"

static _Atomic size_t apart; /* pages; a part of one counts whole */

size_t hak_quota_with(size_t pages) {
    return hak_pages_used() + hak_pages_dirty() +
           atomic_load_explicit(&apart, memory_order_relaxed) + pages;
}

bool hak_quota_is_beyond_hard(size_t pages) {
    return hak_quota_with(pages) > atomic_load_explicit(&hak_limit.hard, memory_order_relaxed);
}

bool hak_quota_forbids(const hak_range *r, size_t first, size_t count) {
    return hak_quota_is_beyond_hard(count - hak_pages_dirty_within(r, first, count));
}

/* Under the lock that pages are taken under: so of two requests that are too much together, one is
 * refused. */
bool hak_quota_resize_apart(size_t from, size_t to) {
    size_t before = hak_pages_for(from), after = hak_pages_for(to);
    hak_lock_take(&hak_segment_lock);
    bool granted = after <= before || !hak_quota_is_beyond_hard(after - before);
    if (granted)
        atomic_fetch_add_explicit(&apart, after - before, memory_order_relaxed);
    hak_lock_give(&hak_segment_lock);
    return granted;
}

void hak_quota_set_apart(size_t bytes) {
    atomic_store_explicit(&apart, hak_pages_for(bytes), memory_order_relaxed);
}

/* Once for each limit that is set. Whoever forgets the M behind a number has a limit below one
 * page, which grants nothing. */
static void tell_once(size_t size, size_t hard) {
    static _Atomic unsigned long told; /* the value of the option that it was told of */
    unsigned long value = hak_policy_now()->hard_limit;
    size_t bytes = hard != 0 ? hard << HAK_PAGE_SHIFT : value & ~HAK_SHARE;
    if (hak_policy_now()->quiet == 0 && atomic_exchange(&told, value) != value)
        hak_tell("HAKMEM_HARD_LIMIT is reached, %zu bytes%s: a request for %zu is "
                 "refused with ENOMEM, and later ones without a word",
                 bytes, hard == 0 ? ", which is less than one page (is K, M or G missing?)" : "",
                 size);
}

void *hak_quota_refuse(size_t size) {
    size_t hard = atomic_load_explicit(&hak_limit.hard, memory_order_relaxed);
    if (hard != SIZE_MAX && hak_quota_is_beyond_hard(hak_pages_for(size)))
        tell_once(size, hard);
    return hak_refuse(size);
}
