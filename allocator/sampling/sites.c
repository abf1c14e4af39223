#include "sampling/sites.h"

#include "base/bits.h"
#include "os/lock.h"
#include "os/os.h"
#include "sampling/live.h"
#include "sampling/sampling.h"

#include <string.h>

enum { SITES = 8192, PLACES = 2 * SITES, LONGEST = 64 };

static struct tables {
    hak_site sites[SITES];
    uint16_t places[PLACES]; /* by size and stack: a site's number, from 1, or 0 */
    hak_live_table live;
} *tables;
static uint32_t site_count;
static _Atomic uint64_t lost;
static bool is_closed; /* nothing begins any more */
static hak_lock lock;

bool hak_sites_open(void) {
    hak_lock_take(&lock);
    tables = hak_os_map_once(tables, sizeof *tables);
    hak_lock_give(&lock);
    return tables != NULL;
}

/* ---- sites ---- */

/* The size with its first four binary digits alone. */
static size_t rounded(size_t size) {
    unsigned digits = size != 0 ? hak_highest_bit(size) + 1 : 0;
    return digits > 4 ? size >> (digits - 4) << (digits - 4) : size;
}

/* SITES: there is no room. */
static uint32_t begin_site(uint16_t *number, size_t size, const hak_stack *stack) {
    if (site_count == SITES)
        return SITES;
    hak_site *site = &tables->sites[site_count++];
    *number = (uint16_t)site_count;
    site->size = size;
    site->counts = (hak_site_counts){0};
    hak_stack_copy(&site->stack, stack);
    return *number - 1u;
}

/* SITES: there is no room, or none near its place. */
static uint32_t site_for(size_t size, const hak_stack *stack) {
    uint64_t hash = hak_stack_hash(size, stack);
    for (uint32_t i = 0; i < LONGEST; i++) {
        uint16_t *number = &tables->places[(hash + i) % PLACES];
        if (*number == 0)
            return begin_site(number, size, stack);
        const hak_site *site = &tables->sites[*number - 1];
        if (site->size == size && hak_stack_is(&site->stack, stack))
            return *number - 1u;
    }
    return SITES;
}

/* ---- peaks ---- */

enum { FIRST_PEAK = 64 };
static uint64_t stands_for; /* bytes: what all live samples stand for, roughly */
static uint64_t next_peak = UINT64_MAX;
static unsigned peak_percent;
static _Atomic bool peak_reached;

/* A sample stands for as many bytes as the rate, or for its own if they are more. The sum is rough:
 * the rate may have changed when the block ends. */
static void weigh(size_t size, bool begins) {
    uint64_t rate = hak_sampling_rate(), weight = size > rate ? size : rate;
    stands_for = begins ? stands_for + weight : stands_for > weight ? stands_for - weight : 0;
    if (stands_for <= next_peak)
        return;
    next_peak = stands_for + stands_for / 100 * peak_percent;
    atomic_store_explicit(&peak_reached, true, memory_order_relaxed);
    hak_counting_changes();
}

void hak_sites_watch_peak(unsigned percent) {
    hak_lock_take(&lock);
    peak_percent = percent;
    next_peak = percent != 0 ? FIRST_PEAK * hak_sampling_rate() : UINT64_MAX;
    hak_lock_give(&lock);
}

bool hak_sites_take_peak(void) {
    return atomic_load_explicit(&peak_reached, memory_order_relaxed) &&
           atomic_exchange_explicit(&peak_reached, false, memory_order_relaxed);
}

/* ---- samples ---- */

static void count(hak_site_counts *counts, size_t size, bool lives) {
    counts->allocated++;
    counts->allocated_bytes += size;
    counts->live += lives;
    counts->live_bytes += lives ? size : 0;
}

void hak_sites_begin(const void *block, size_t size) {
    hak_stack stack;
    hak_stack_take(&stack);
    hak_lock_take(&lock);
    uint32_t site = site_for(rounded(size), &stack);
    bool lives = site != SITES && !is_closed && hak_live_add(&tables->live, block, size, site);
    if (site != SITES)
        count(&tables->sites[site].counts, size, lives);
    if (lives)
        weigh(size, true);
    else
        lost++;
    hak_lock_give(&lock);
}

static void end(size_t place) {
    const hak_live *sample = hak_live_at(&tables->live, place);
    hak_site_counts *counts = &tables->sites[sample->site].counts;
    counts->live--;
    counts->live_bytes -= sample->size;
    weigh(sample->size, false);
    hak_live_take_out(&tables->live, place);
}

bool hak_sites_end(const void *block) {
    hak_lock_take(&lock);
    size_t place = hak_live_find(&tables->live, block);
    bool known = hak_live_at(&tables->live, place) != NULL;
    if (known)
        end(place);
    hak_lock_give(&lock);
    return known;
}

static bool stays(size_t place, bool (*keep)(const void *block)) {
    const hak_live *sample = hak_live_at(&tables->live, place);
    return sample == NULL || keep(hak_live_block(sample));
}

/* Another sample may move into the place of one that ends. */
static void keep_only(bool (*keep)(const void *block)) {
    for (size_t place = 0; place < HAK_LIVE_PLACES; place++)
        while (!stays(place, keep))
            end(place);
}

size_t hak_sites_keep_only(bool (*keep)(const void *block), uint64_t *stand_for) {
    hak_lock_take(&lock);
    is_closed = true;
    keep_only(keep);
    size_t left = tables->live.count;
    *stand_for = stands_for;
    hak_lock_give(&lock);
    return left;
}

/* ---- reading them ---- */

/* False: there are not so many. */
static bool copy_site(uint32_t at, hak_site *copy) {
    hak_lock_take(&lock);
    bool is_there = at < site_count;
    if (is_there)
        *copy = tables->sites[at];
    hak_lock_give(&lock);
    return is_there;
}

void hak_sites_each(void (*visit)(const hak_site *site, void *context), void *context) {
    hak_site copy;
    for (uint32_t i = 0; copy_site(i, &copy); i++)
        visit(&copy, context);
}

uint64_t hak_sites_lost(void) {
    return lost;
}

/* Found held, the tables may be half changed: the child begins with empty ones. */
void hak_sites_after_fork_in_child(void) {
    if (!hak_lock_inherit(&lock) || tables == NULL)
        return;
    memset(tables->places, 0, sizeof tables->places);
    hak_live_forget_all(&tables->live);
    site_count = 0;
    lost = stands_for = 0;
}
