#include "sampling/sites.h"

#include "base/bits.h"
#include "os/lock.h"
#include "os/os.h"
#include "os/secret.h"
#include "sampling/sampling.h"

#include <string.h>

enum { SITES = 8192, LIVE = 65536, MOST_LIVE = LIVE / 4 * 3, LONGEST = 64 };

/* Blocks are known by their addresses with all bits turned: who looks for leaks (leaks/reach.c)
 * would take them for pointers. */
typedef struct live {
    uintptr_t block; /* 0: none */
    size_t size;
    uint32_t site;
} live;

static hak_site *sites;
static live *blocks;
static size_t live_count;
static _Atomic uint64_t lost;
static bool is_closed; /* nothing begins any more */
static hak_lock lock;

/* The bytes that live samples stand for, roughly, and how many make the next profile at a peak. */
enum { FIRST_PEAK = 64 };
static uint64_t stands_for, next_peak = UINT64_MAX;
static unsigned peak_percent;
static _Atomic bool peak_reached;

bool hak_sites_open(void) {
    hak_lock_take(&lock);
    blocks = hak_os_map_once(blocks, LIVE * sizeof *blocks);
    if (blocks != NULL)
        sites = hak_os_map_once(sites, SITES * sizeof *sites);
    hak_lock_give(&lock);
    return sites != NULL;
}

/* The size with its first four binary digits alone. */
static size_t rounded(size_t size) {
    unsigned digits = size != 0 ? hak_highest_bit(size) + 1 : 0;
    return digits > 4 ? size >> (digits - 4) << (digits - 4) : size;
}

uint64_t hak_stack_hash(uint64_t start, const hak_stack *stack) {
    uint64_t hash = hak_mixed(start ^ stack->depth);
    for (unsigned i = 0; i < stack->depth; i++)
        hash = hak_mixed(hash ^ (uintptr_t)stack->frames[i]);
    return hash;
}

bool hak_stack_is(const hak_stack *known, const hak_stack *stack) {
    return known->depth == stack->depth &&
           memcmp(known->frames, stack->frames, stack->depth * sizeof(void *)) == 0;
}

/* SITES: there is no room near its place. */
static uint32_t site_for(size_t size, const hak_stack *stack) {
    uint64_t hash = hak_stack_hash(size, stack);
    for (uint32_t i = 0; i < LONGEST; i++) {
        hak_site *site = &sites[(hash + i) % SITES];
        if (site->counts.allocated == 0 && site->counts.live == 0) {
            site->size = size;
            hak_stack_copy(&site->stack, stack);
        }
        if (site->size == size && hak_stack_is(&site->stack, stack))
            return (uint32_t)(site - sites);
    }
    return SITES;
}

static size_t place_of(uintptr_t block) {
    return hak_mixed(block) % LIVE;
}

static uintptr_t turned(const void *block) {
    return ~(uintptr_t)block;
}

/* Where the block stands, or the empty place where it would. */
static size_t find(uintptr_t block) {
    size_t at = place_of(block);
    while (blocks[at].block != 0 && blocks[at].block != block)
        at = (at + 1) % LIVE;
    return at;
}

static bool add(uintptr_t block, size_t size, uint32_t site) {
    if (live_count >= MOST_LIVE)
        return false;
    size_t at = find(block);
    live_count += blocks[at].block == 0;
    blocks[at] = (live){block, size, site};
    return true;
}

/* What stands behind a gap moves into it, unless its own place lies behind the gap. Source: Knuth,
 * The Art of Computer Programming 3, section 6.4, algorithm R. */
static void take_out(size_t gap) {
    for (size_t at = (gap + 1) % LIVE; blocks[at].block != 0; at = (at + 1) % LIVE)
        if ((at - place_of(blocks[at].block)) % LIVE >= (at - gap) % LIVE) {
            blocks[gap] = blocks[at];
            gap = at;
        }
    blocks[gap].block = 0;
    live_count--;
}

/* ---- peaks ---- */

/* A sample stands for the rate, or for itself where it is longer. The rate may be another one when
 * the block ends. */
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

void hak_sites_begin(const void *block, size_t size, const hak_stack *stack) {
    hak_lock_take(&lock);
    uint32_t site = site_for(rounded(size), stack);
    bool lives = site != SITES && !is_closed && add(turned(block), size, site);
    lost += !lives;
    if (lives)
        weigh(size, true);
    if (site != SITES) {
        hak_site_counts *counts = &sites[site].counts;
        counts->allocated++;
        counts->allocated_bytes += size;
        counts->live += lives;
        counts->live_bytes += lives ? size : 0;
    }
    hak_lock_give(&lock);
}

static void end(size_t at) {
    hak_site_counts *counts = &sites[blocks[at].site].counts;
    counts->live--;
    counts->live_bytes -= blocks[at].size;
    weigh(blocks[at].size, false);
    take_out(at);
}

bool hak_sites_end(const void *block) {
    hak_lock_take(&lock);
    size_t at = find(turned(block));
    bool known = blocks[at].block != 0;
    if (known)
        end(at);
    hak_lock_give(&lock);
    return known;
}

/* Another sample may move into the place of one that ends. */
size_t hak_sites_keep_only(bool (*keep)(const void *block), uint64_t *stand_for) {
    hak_lock_take(&lock);
    is_closed = true;
    for (size_t at = 0; at < LIVE; at++)
        while (blocks[at].block != 0 && !keep((const void *)~blocks[at].block))
            end(at);
    size_t left = live_count;
    *stand_for = stands_for;
    hak_lock_give(&lock);
    return left;
}

void hak_sites_each(void (*visit)(const hak_site *site, void *context), void *context) {
    for (size_t i = 0; sites != NULL && i < SITES; i++) {
        hak_lock_take(&lock);
        hak_site copy = sites[i];
        hak_lock_give(&lock);
        if (copy.counts.allocated != 0)
            visit(&copy, context);
    }
}

uint64_t hak_sites_lost(void) {
    return lost;
}

/* Found held, the tables may be half changed: the child begins with empty ones. */
void hak_sites_after_fork_in_child(void) {
    if (!hak_lock_inherit(&lock) || sites == NULL)
        return;
    memset(sites, 0, SITES * sizeof *sites);
    memset(blocks, 0, LIVE * sizeof *blocks);
    live_count = 0;
    lost = stands_for = 0;
}
