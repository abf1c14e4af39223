#include "pages/excess.h"

#include "base/geometry.h"
#include "os/lock.h"
#include "os/os.h"
#include "pages/segment.h"
#include "policy/policy.h"

enum {
    SHARE_OF_HIGHEST = 8, /* of huge blocks an eighth of the highest resident memory may wait */
    GROWTH_PAGES = 16,    /* dirty pages below which, and ... */
    GROWTH_SHARE = 32,    /* ... share of the pages in use below which growth does not matter */
    BUDGET_SHARE = 4,     /* growth may purge 1/4 of the pages in use in each delay */
    PAUSE = 2,   /* purge delays between two teardowns that have nothing to do with each other */
    LOOK_US = 50 /* between two looks at the faults; a thread has 100 or so in this time */
};

static hak_lock lock; /* guards all of the below; innermost */

/* ---- pages ---- */

static uint64_t seen_at_ms; /* a teardown, at first the start of the process */
static size_t inherited; /* the highest resident memory before exec; the system goes on with it */

void hak_excess_start(void) {
    seen_at_ms = hak_os_now_ms();
    hak_os_faults(&inherited);
}

/* A teardown goes on while less and less is in use. One that begins soon after another, or soon
 * after the start, may belong to a program that builds up and tears down in turn. */
static bool is_rare(size_t used) {
    static size_t used_before;
    static bool rare;
    uint64_t now = hak_os_now_ms();
    if (used > used_before)
        rare = now - seen_at_ms > PAUSE * hak_policy_now()->purge_delay_ms;
    used_before = used;
    seen_at_ms = now;
    return rare;
}

size_t hak_excess_pages(void) {
    size_t dirty = hak_pages_dirty(), used = hak_pages_used();
    size_t allowed =
        used / HAK_KEEP_SHARE > HAK_KEEP_PAGES ? used / HAK_KEEP_SHARE : HAK_KEEP_PAGES;
    if (dirty <= allowed || !hak_lock_try(&lock))
        return 0;
    bool rare = is_rare(used);
    hak_lock_give(&lock);
    return rare ? dirty - allowed / 2 : 0;
}

/* ---- growth ---- */

static size_t most_resident;    /* pages in use and dirty ones, when growth was last looked at */
static size_t budget;           /* pages that growth may purge ... */
static uint64_t budget_from_ms; /* ... in the delay that began then */

static void renew_budget(size_t used) {
    uint64_t now = hak_os_now_ms();
    if (budget_from_ms != 0 && now - budget_from_ms <= hak_policy_now()->purge_delay_ms)
        return;
    budget_from_ms = now;
    budget = used / BUDGET_SHARE;
}

/* A program whose slabs come and go within what was resident already pays nothing. */
size_t hak_excess_growth(void) {
    size_t dirty = hak_pages_dirty(), used = hak_pages_used(), pages = 0;
    if (dirty < GROWTH_PAGES || dirty < used / GROWTH_SHARE || !hak_lock_try(&lock))
        return 0;
    if (used + dirty > most_resident) {
        most_resident = used + dirty;
        renew_budget(used);
        pages = dirty < budget ? dirty : budget;
        budget -= pages;
    }
    hak_lock_give(&lock);
    return pages;
}

/* ---- huge blocks ---- */

static _Atomic uint64_t faults_seen; /* threads may note their looks in another order */

uint64_t hak_excess_faults(void) {
    return atomic_load_explicit(&faults_seen, memory_order_relaxed);
}

/* At most so many bytes of one fault can be resident. */
static size_t bytes_per_fault(void) {
    unsigned long mode = hak_policy_now()->huge_pages;
    bool huge = mode == HAK_HUGE_SYSTEM || mode == HAK_HUGE_ALWAYS;
    return huge ? HAK_SEGMENT_SIZE : hak_os_page_size();
}

/* Faults at the last purge of huge blocks. Of blocks freed since then, but taken before: the faults
 * up to it since the first of them was taken, and the pages of them all; what they hold is not more
 * than either. */
static uint64_t purged_at, carried, carried_pages;
static _Atomic uint64_t looked_at_us;

/* Faults since then in the lives of blocks that were used as a whole and are wanted again and
 * again; up to which count they were looked at for that, as each counts once; and when the last
 * such block was freed. These blocks wait for the end of the epoch like other memory. */
static uint64_t reused, reused_up_to, dense_at_ms;

/* Of a block that is used as a whole. */
static uint64_t faults_of(size_t pages) {
    return (pages << HAK_PAGE_SHIFT) / bytes_per_fault();
}

static void carry(size_t pages, uint64_t faults) {
    if (faults >= purged_at)
        return;
    carried = purged_at - faults > carried ? purged_at - faults : carried;
    carried_pages += faults_of(pages) + 1;
}

/* Asking for the faults costs as much as some of them, so it is not done each time. */
static bool is_time_to_look(void) {
    uint64_t now = hak_os_now_us();
    if (now - atomic_load_explicit(&looked_at_us, memory_order_relaxed) < LOOK_US)
        return false;
    atomic_store_explicit(&looked_at_us, now, memory_order_relaxed);
    return true;
}

static void look_again_soon(void) {
    atomic_store_explicit(&looked_at_us, 0, memory_order_relaxed);
}

static size_t allowed(size_t highest) {
    size_t least = hak_policy_now()->huge_keep_kib * 1024;
    size_t share = highest > inherited ? highest / SHARE_OF_HIGHEST : 0;
    return share > least ? share : least;
}

static uint64_t difference(uint64_t later, uint64_t earlier) {
    return later > earlier ? later - earlier : 0;
}

/* The first dense block for a while goes at once, if there is too much; a program that asks for
 * such blocks in turn would fault all of their pages in each time. */
static void note_dense(size_t pages, uint64_t faults, uint64_t now) {
    uint64_t from = faults > purged_at ? faults : purged_at;
    from = from > reused_up_to ? from : reused_up_to;
    uint64_t own = difference(now, from);
    if (own < faults_of(pages) / 2)
        return;
    reused_up_to = now;
    uint64_t now_ms = hak_os_now_ms();
    if (now_ms - dense_at_ms <= PAUSE * hak_policy_now()->purge_delay_ms)
        reused += own;
    dense_at_ms = now_ms;
}

/* Faults that may have left something in freed huge blocks. */
static uint64_t left_by(uint64_t now) {
    uint64_t since = purged_at - (carried < carried_pages ? carried : carried_pages);
    return difference(difference(now, since), reused);
}

bool hak_excess_huge(size_t pages, uint64_t faults) {
    bool looks = is_time_to_look();
    size_t highest = 0;
    if (looks)
        atomic_store_explicit(&faults_seen, hak_os_faults(&highest), memory_order_relaxed);
    uint64_t now = hak_excess_faults();
    hak_lock_take(&lock);
    carry(pages, faults);
    note_dense(pages, faults, now);
    uint64_t left = left_by(now);
    hak_lock_give(&lock);
    if (!looks || left * bytes_per_fault() <= allowed(highest))
        return false;
    look_again_soon();
    return true;
}

void hak_excess_purged(void) {
    hak_lock_take(&lock);
    purged_at = hak_excess_faults();
    carried = carried_pages = reused = 0;
    hak_lock_give(&lock);
}

void hak_excess_after_fork_in_child(void) {
    hak_lock_reset(&lock);
}
