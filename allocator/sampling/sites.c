#include "sampling/sites.h"

#include "base/bits.h"
#include "os/lock.h"
#include "os/os.h"
#include "os/secret.h"
#include "sampling/sampling.h"

#include <string.h>

enum { SITES = 8192, LIVE = 49152, LONGEST = 64 };

/* Places of the hash tables. Each holds a number, 1 for the first entry, or 0. */
enum { SITE_PLACES = 2 * SITES, LIVE_PLACES = 65536 };

/* Blocks are known by their addresses with all bits turned: who looks for leaks (leaks/reach.c)
 * would take them for pointers. */
typedef struct live {
    uintptr_t block;
    size_t size;
    uint16_t site; /* from 0 */
    uint16_t next; /* of an entry that is free: the next free one's number */
} live;

static struct tables {
    hak_site sites[SITES];
    live blocks[LIVE];
    uint16_t site_numbers[SITE_PLACES], live_numbers[LIVE_PLACES];
} *tables;
static uint32_t site_count, live_count, blocks_used;
static uint16_t free_block; /* a number */
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
    tables = hak_os_map_once(tables, sizeof *tables);
    hak_lock_give(&lock);
    return tables != NULL;
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
        uint16_t *number = &tables->site_numbers[(hash + i) % SITE_PLACES];
        if (*number == 0)
            return begin_site(number, size, stack);
        const hak_site *site = &tables->sites[*number - 1];
        if (site->size == size && hak_stack_is(&site->stack, stack))
            return *number - 1u;
    }
    return SITES;
}

static size_t place_of(uintptr_t block) {
    return hak_mixed(block) % LIVE_PLACES;
}

static uintptr_t turned(const void *block) {
    return ~(uintptr_t)block;
}

/* What stands at a place that is not empty. */
static live *live_at(size_t at) {
    return &tables->blocks[tables->live_numbers[at] - 1];
}

/* Where the block stands, or the empty place where it would. */
static size_t find(uintptr_t block) {
    size_t at = place_of(block);
    while (tables->live_numbers[at] != 0 && live_at(at)->block != block)
        at = (at + 1) % LIVE_PLACES;
    return at;
}

/* The number of an entry that is free; 0: there is none. */
static uint16_t new_number(void) {
    uint16_t number = free_block;
    if (number != 0)
        free_block = tables->blocks[number - 1].next;
    else if (blocks_used < LIVE)
        number = (uint16_t)++blocks_used;
    return number;
}

static bool add(uintptr_t block, size_t size, uint32_t site) {
    uint16_t *number = &tables->live_numbers[find(block)];
    if (*number == 0) {
        *number = new_number();
        live_count += *number != 0;
    }
    if (*number != 0)
        tables->blocks[*number - 1] = (live){block, size, (uint16_t)site, 0};
    return *number != 0;
}

/* What stands behind a gap moves into it, unless its own place lies behind the gap. Source: Knuth,
 * The Art of Computer Programming 3, section 6.4, algorithm R. */
static void close_gap(size_t gap) {
    uint16_t *numbers = tables->live_numbers;
    for (size_t at = (gap + 1) % LIVE_PLACES; numbers[at] != 0; at = (at + 1) % LIVE_PLACES)
        if ((at - place_of(live_at(at)->block)) % LIVE_PLACES >= (at - gap) % LIVE_PLACES) {
            numbers[gap] = numbers[at];
            gap = at;
        }
    numbers[gap] = 0;
}

static void take_out(size_t at) {
    live_at(at)->next = free_block;
    free_block = tables->live_numbers[at];
    close_gap(at);
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

void hak_sites_begin(const void *block, size_t size) {
    hak_stack stack;
    hak_stack_take(&stack);
    hak_lock_take(&lock);
    uint32_t site = site_for(rounded(size), &stack);
    bool lives = site != SITES && !is_closed && add(turned(block), size, site);
    lost += !lives;
    if (lives)
        weigh(size, true);
    if (site != SITES) {
        hak_site_counts *counts = &tables->sites[site].counts;
        counts->allocated++;
        counts->allocated_bytes += size;
        counts->live += lives;
        counts->live_bytes += lives ? size : 0;
    }
    hak_lock_give(&lock);
}

static void end(size_t at) {
    const live *block = live_at(at);
    hak_site_counts *counts = &tables->sites[block->site].counts;
    counts->live--;
    counts->live_bytes -= block->size;
    weigh(block->size, false);
    take_out(at);
}

bool hak_sites_end(const void *block) {
    hak_lock_take(&lock);
    size_t at = find(turned(block));
    bool known = tables->live_numbers[at] != 0;
    if (known)
        end(at);
    hak_lock_give(&lock);
    return known;
}

/* Another sample may move into the place of one that ends. */
size_t hak_sites_keep_only(bool (*keep)(const void *block), uint64_t *stand_for) {
    hak_lock_take(&lock);
    is_closed = true;
    for (size_t at = 0; at < LIVE_PLACES; at++)
        while (tables->live_numbers[at] != 0 && !keep((const void *)~live_at(at)->block))
            end(at);
    size_t left = live_count;
    *stand_for = stands_for;
    hak_lock_give(&lock);
    return left;
}

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
    memset(tables->site_numbers, 0, sizeof tables->site_numbers);
    memset(tables->live_numbers, 0, sizeof tables->live_numbers);
    site_count = live_count = blocks_used = free_block = 0;
    lost = stands_for = 0;
}
