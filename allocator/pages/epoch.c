#include "pages/epoch.h"

#include "os/os.h"
#include "pages/dirty_list.h"
#include "pages/excess.h"
#include "policy/policy.h"

static _Atomic uint64_t epoch_ends_ms;
static _Atomic uint32_t epoch;
static _Atomic bool expected; /* something was freed or left over since the epoch began */

/* ---- when ---- */

uint64_t hak_epoch_ends_ms(void) {
    return atomic_load_explicit(&epoch_ends_ms, memory_order_relaxed);
}

bool hak_purge_is_pending(void) {
    return hak_epoch_ends_ms() != 0;
}

uint32_t hak_epoch_number(void) {
    return atomic_load_explicit(&epoch, memory_order_relaxed);
}

void hak_epoch_count(void) {
    atomic_fetch_add_explicit(&epoch, 1, memory_order_relaxed);
}

void hak_epoch_end_at(uint64_t ms) {
    atomic_store_explicit(&epoch_ends_ms, ms, memory_order_seq_cst);
}

/* Another thread may set a shorter delay, and move the end (hak_epoch_hasten), between our look at
 * the delay and our store, which undoes that. So we look again. */
static void set_end_after(uint64_t now) {
    uint64_t delay;
    do {
        delay = hak_policy_now()->purge_delay_ms;
        hak_epoch_end_at(now + delay);
    } while (delay != hak_policy_now()->purge_delay_ms);
}

/* Whether an epoch has to run; it sees to what was expected until now. */
static bool take_wish(void) {
    return hak_policy_purges() && (atomic_exchange(&expected, false) || hak_dirty_count() != 0 ||
                                   hak_excess_borrowed() != 0);
}

/* Whoever frees something sets `expected` and then looks whether an epoch runs; we say that none
 * runs and then look at `expected` again: one of the two sees the other. */
void hak_epoch_start(uint64_t now) {
    if (take_wish()) {
        set_end_after(now);
        return;
    }
    hak_epoch_end_at(0);
    if (atomic_load(&expected) && hak_policy_purges())
        set_end_after(now);
}

/* A thread that ends the epoch meanwhile finds `expected` and begins another one. */
void hak_epoch_hasten(uint64_t milliseconds) {
    hak_epoch_expect_more();
    uint64_t ends = hak_os_now_ms() + milliseconds, seen = atomic_load(&epoch_ends_ms);
    while ((seen == 0 || ends < seen) && !atomic_compare_exchange_weak(&epoch_ends_ms, &seen, ends))
        ;
}

void hak_epoch_expect_more(void) {
    atomic_store_explicit(&expected, true, memory_order_seq_cst);
}

/* ---- something was freed ---- */

static void begin_epoch(void) {
    if (atomic_load_explicit(&expected, memory_order_relaxed) && hak_purge_is_pending())
        return;
    hak_epoch_expect_more();
    if (atomic_load(&epoch_ends_ms) == 0)
        set_end_after(hak_os_now_ms());
}

/* Does nothing while another thread purges. */
static void purge_some(size_t pages) {
    if (pages == 0 || !hak_lock_try(&hak_purge_lock))
        return;
    hak_dirty_purge_any(pages);
    hak_lock_give(&hak_purge_lock);
}

void hak_purge_expect(void) {
    if (!hak_policy_purges())
        return;
    begin_epoch();
    purge_some(hak_excess_pages());
}

/* With a purge delay of 0 each visit would end an epoch and empty the magazines. */
void hak_purge_expect_sleep(void) {
    if (hak_policy_purges() && hak_policy_now()->purge_delay_ms != 0)
        begin_epoch();
}

void hak_purge_for_growth(void) {
    if (hak_policy_purges())
        purge_some(hak_excess_growth());
}
