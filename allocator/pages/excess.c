#include "pages/excess.h"

#include "base/bits.h"
#include "base/geometry.h"
#include "os/os.h"
#include "pages/quota.h"
#include "pages/segment.h"
#include "policy/policy.h"

/* Microseconds between two looks at the count of page faults: a thread has some 100 in them. */
enum { LOOK_US = 50 };

/* ---- pages ---- */

/* Notes an event, and returns whether the last one was within a purge delay. If so, the program
 * does it in turn, and keeps the pages: else it would fault all of them in each time. */
static bool note_turn(_Atomic uint64_t *last_ms) {
    uint64_t now = hak_os_now_ms(), last = atomic_exchange(last_ms, now);
    return last != 0 && now - last <= hak_policy_now()->purge_delay_ms;
}

/* When a teardown was last seen; at first, process start. */
static HAK_EARLY _Atomic uint64_t torn_down_ms;

void hak_excess_start(void) {
    note_turn(&torn_down_ms);
}

/* How many dirty pages may wait for the end of the epoch. */
static size_t allowed(size_t used) {
    return used / HAK_KEEP_SHARE > HAK_KEEP_PAGES ? used / HAK_KEEP_SHARE : HAK_KEEP_PAGES;
}

/* Notes a step of a teardown, and returns whether the teardown is rare: within a purge delay before
 * its first step there was no step of another one, and no start of the process. A step at which
 * more pages are held than at the last one is the first of another teardown. */
static bool note_teardown(void) {
    static size_t held_before;
    static bool rare;
    size_t held = hak_pages_held();
    bool again = note_turn(&torn_down_ms);
    if (held > held_before)
        rare = !again;
    held_before = held;
    return rare;
}

static _Atomic size_t borrowed; /* pages in the run caches of threads, which count as dirty */

size_t hak_excess_borrowed(void) {
    return atomic_load_explicit(&borrowed, memory_order_seq_cst);
}

bool hak_excess_borrow(size_t pages) {
    if (hak_quota_is_near(0))
        return false;
    size_t dirty = hak_pages_dirty() + atomic_fetch_add(&borrowed, pages) + pages;
    if (dirty <= allowed(hak_pages_used()) && hak_policy_now()->purge_delay_ms != 0)
        return true;
    hak_excess_give_back(pages);
    return false;
}

void hak_excess_give_back(size_t pages) {
    if (pages != 0)
        atomic_fetch_sub(&borrowed, pages);
}

void hak_excess_borrows(size_t pages) {
    atomic_store(&borrowed, pages);
}

size_t hak_excess_pages(void) {
    size_t dirty = hak_pages_dirty() + hak_excess_borrowed(), used = hak_pages_used();
    size_t beyond = hak_quota_beyond(0);
    if (beyond != 0)
        return beyond;
    if (dirty <= allowed(used))
        return 0;
    hak_lock_take(&hak_segment_lock);
    bool rare = note_teardown();
    hak_lock_give(&hak_segment_lock);
    return rare ? dirty - allowed(used) / 2 : 0;
}

/* ---- growth ---- */

static _Atomic size_t most_resident; /* pages in use and dirty ones, when there were most */

/* Only growth beyond the most that was ever resident makes pages go, and no more pages than it grew
 * by. A program whose slabs come and go below that pays nothing. */
size_t hak_excess_growth(void) {
    size_t dirty = hak_pages_dirty(), resident = hak_pages_used() + dirty, most = most_resident;
    if (dirty == 0 || resident <= most)
        return 0;
    size_t pages = hak_least(dirty, resident - most);
    most_resident = resident - pages;
    return pages;
}

/* ---- huge blocks ---- */

static _Atomic uint64_t faults_seen; /* may step back a little: threads write it in any order */
static _Atomic uint64_t looked_at_us;

uint64_t hak_excess_faults(void) {
    return atomic_load_explicit(&faults_seen, memory_order_relaxed);
}

/* No faults where the count is below `faults`: another thread may have written an older one. */
static uint64_t faults_since(uint64_t faults) {
    int64_t since = (int64_t)(hak_excess_faults() - faults);
    return since > 0 ? (uint64_t)since : 0;
}

/* The system call costs as much as some page faults: one in LOOK_US at most. */
void hak_excess_look(void) {
    uint64_t now = hak_os_now_us();
    if (now - atomic_load_explicit(&looked_at_us, memory_order_relaxed) < LOOK_US)
        return;
    atomic_store_explicit(&looked_at_us, now, memory_order_relaxed);
    atomic_store_explicit(&faults_seen, hak_os_faults(), memory_order_relaxed);
}

/* The most that one page fault makes resident. */
static size_t bytes_per_fault(void) {
    unsigned long mode = hak_policy_now()->huge_pages;
    bool huge = mode == HAK_HUGE_SYSTEM || mode == HAK_HUGE_ALWAYS;
    return huge ? HAK_SEGMENT_SIZE : hak_os_page_size();
}

size_t hak_excess_bytes_since(uint64_t faults) {
    return faults_since(faults) * bytes_per_fault();
}

uint64_t hak_excess_faults_of(size_t pages) {
    return (pages << HAK_PAGE_SHIFT) / bytes_per_fault();
}

/* A dense huge block beyond what may wait goes to the system at once if no other was freed within a
 * purge delay: a program that read one large file may never call the library again. */
static enum hak_freed note_dense(size_t pages) {
    static _Atomic uint64_t freed_ms;
    bool stays = note_turn(&freed_ms) || pages <= allowed(hak_pages_used());
    return stays ? HAK_FREED_DENSE : HAK_FREED_RARELY;
}

/* A program may ask for huge pages itself: then one fault fills a segment. If there were enough
 * faults to fill the block in that way, we ask the system whether its middle is resident. If it is
 * not, we do not ask again within LOOK_US. */
static bool is_full_in_the_middle(const hak_slab *run, uint64_t faults) {
    static _Atomic uint64_t in_vain_us;
    uint64_t now = hak_os_now_us();
    size_t bytes = (size_t)run->pages << HAK_PAGE_SHIFT, part = HAK_SEGMENT_SIZE;
    size_t middle = (size_t)run->pages / 2 << HAK_PAGE_SHIFT; /* where a system page begins */
    if (faults * HAK_SEGMENT_SIZE < bytes - bytes / HAK_SLACK_SHARE ||
        now - atomic_load_explicit(&in_vain_us, memory_order_relaxed) < LOOK_US)
        return false;
    bool full = hak_os_resident((char *)run->start + middle, part) >= part - part / HAK_SLACK_SHARE;
    if (!full)
        atomic_store_explicit(&in_vain_us, now, memory_order_relaxed);
    return full;
}

/* A huge block is dense if the program touched all of it but as much as a grown block has slack, or
 * if its middle is resident. */
enum hak_freed hak_excess_huge(const hak_slab *run, uint64_t faults) {
    hak_excess_look();
    size_t pages = run->pages;
    uint64_t since = faults_since(faults);
    bool is_dense = since >= hak_excess_faults_of(pages - pages / HAK_SLACK_SHARE) ||
                    is_full_in_the_middle(run, since);
    return is_dense ? note_dense(pages) : HAK_FREED_SPARSE;
}

bool hak_excess_note_tail(size_t pages) {
    static _Atomic uint64_t left_ms;
    return pages >= HAK_HUGE_PAGES && hak_pages_dirty() > hak_pages_used() && !note_turn(&left_ms);
}
