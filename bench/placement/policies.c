#include "pools.h"

#include <malloc.h>
#include <stdlib.h>

#include "room.h"

enum { CLASSES = 64, POOLS = 1 << 22 };

typedef struct lesson {
    uint32_t affinity, heat;
} lesson;

static lesson lessons[1 << 20];

void policies_learned(uint64_t digest, uint32_t affinity, uint32_t heat) {
    lessons[site_number(digest)] = (lesson){affinity, heat};
}

/* Steps of 16 bytes up to 128, then four to each doubling: the library's table. */
static unsigned class_of(uint64_t size, uint64_t *rounded) {
    uint64_t step = ALIGN;
    while (size > step * 8)
        step *= 2;
    *rounded = (size + step - 1) / step * step;
    return (unsigned)(*rounded / step + 8 * (uint64_t)__builtin_ctzll(step / ALIGN));
}

static uint64_t stay(policy *it, const block *of) {
    (void)it;
    return of->from;
}

static void nothing(policy *it, const block *of, uint64_t at) {
    (void)it, (void)of, (void)at;
}

/* Each page of 64 KiB begins at another line: a slab's first block lies in another set. */
static uint64_t stay_coloured(policy *it, const block *of) {
    uint64_t slab = of->from >> 16, colour = slab * 0x9e3779b97f4a7c15ull >> 58 << 6;
    (void)it;
    return (slab << 16) | ((of->from + colour) & 0xffff);
}

/* Each slab begins at another of its sixteen pages: slabs that are walked in step do not meet in
 * one set of the TLB. */
static uint64_t stay_turned(policy *it, const block *of) {
    uint64_t slab = of->from >> 16, pages = slab * 0x9e3779b97f4a7c15ull >> 60 << 12;
    (void)it;
    return (slab << 16) | ((of->from + pages) & 0xffff);
}

/* Lists: a free block of the key, else the next of its unit; a unit is cut into blocks of the key.
 */
static pool *list_of(policy *it, const block *of, uint64_t *bytes) {
    unsigned class = class_of(of->size, bytes);
    return (pool *)it->pools + it->group(of) * (uint64_t)CLASSES + class;
}

static uint64_t take_listed(policy *it, const block *of) {
    uint64_t bytes, at;
    pool *from = list_of(it, of, &bytes);
    if (from->free != 0) {
        at = from->free;
        from->free = *next_of(it, at);
        return at;
    }
    if (from->top + bytes > from->end) {
        uint64_t unit = it->unit > bytes ? it->unit / bytes * bytes : bytes;
        if (it->unit >= 4096)
            unit = it->unit; /* a slab begins at its own page */
        from->top = advance(it, unit);
        from->end = from->top + unit;
    }
    at = from->top;
    from->top += bytes;
    return at;
}

static void give_listed(policy *it, const block *of, uint64_t at) {
    uint64_t bytes;
    pool *to = list_of(it, of, &bytes);
    *next_of(it, at) = to->free;
    to->free = at;
}

static uint64_t take_by_malloc(policy *it, const block *of) {
    (void)it;
    return (uint64_t)malloc(of->size);
}

static void give_by_malloc(policy *it, const block *of, uint64_t at) {
    (void)it, (void)of;
    free((void *)at);
}

static uint32_t by_none(const block *of) {
    (void)of;
    return 0;
}

static uint32_t by_site(const block *of) {
    return of->site;
}

static uint32_t by_context(const block *of) {
    return of->context;
}

static uint32_t by_affinity(const block *of) {
    return lessons[of->context].affinity;
}

static uint32_t by_affinity_else_stay(const block *of) {
    return lessons[of->context].affinity == 0 ? UINT32_MAX : lessons[of->context].affinity;
}

static uint32_t by_heat(const block *of) {
    return lessons[of->context].heat;
}

policy policies[] = {
    {.name = "today", .what = "where the traced allocator put it", .take = stay, .give = nothing},
    {.name = "colour",
     .what = "the same, each slab's start moved by 0 to 63 lines",
     .take = stay_coloured,
     .give = nothing},
    {.name = "turned",
     .what = "the same, each slab's start moved by 0 to 15 pages",
     .take = stay_turned,
     .give = nothing},
    {.name = "malloc",
     .what = "where the malloc of this process puts it",
     .take = take_by_malloc,
     .give = give_by_malloc},
    {.name = "classes",
     .what = "slabs of 64 KiB by class, newest free block first",
     .take = take_listed,
     .give = give_listed,
     .group = by_none,
     .unit = 65536},
    {.name = "carved",
     .what = "new blocks of all classes from one frontier, one by one",
     .take = take_listed,
     .give = give_listed,
     .group = by_none,
     .unit = 16},
    {.name = "carved-1K",
     .what = "the same, 1 KiB of a class at once",
     .take = take_listed,
     .give = give_listed,
     .group = by_none,
     .unit = 1024},
    {.name = "carved-4K",
     .what = "the same, 4 KiB of a class at once",
     .take = take_listed,
     .give = give_listed,
     .group = by_none,
     .unit = 4096},
    {.name = "carved-16K",
     .what = "the same, 16 KiB of a class at once",
     .take = take_listed,
     .give = give_listed,
     .group = by_none,
     .unit = 16384},
    {.name = "bump-4K",
     .what = "in order of allocation in chunks of 4 KiB, reused when empty",
     .take = take_in_chunk,
     .give = give_in_chunk,
     .group = by_none,
     .unit = 4096},
    {.name = "bump-64K",
     .what = "the same, chunks of 64 KiB",
     .take = take_in_chunk,
     .give = give_in_chunk,
     .group = by_none,
     .unit = 65536},
    {.name = "site",
     .what = "slabs of 4 KiB by caller and class",
     .take = take_listed,
     .give = give_listed,
     .group = by_site,
     .unit = 4096},
    {.name = "context",
     .what = "slabs of 4 KiB by four callers and class",
     .take = take_listed,
     .give = give_listed,
     .group = by_context,
     .unit = 4096},
    {.name = "affinity",
     .what = "learned: slabs of 16 KiB by group and class",
     .take = take_listed,
     .give = give_listed,
     .group = by_affinity,
     .unit = 16384},
    {.name = "halo",
     .what = "learned: chunks of 64 KiB by group, other blocks as today",
     .take = take_in_chunk,
     .give = give_in_chunk,
     .group = by_affinity_else_stay,
     .unit = 65536},
    {.name = "heat",
     .what = "learned: slabs of 64 KiB of hot and of cold sites, by class",
     .take = take_listed,
     .give = give_listed,
     .group = by_heat,
     .unit = 65536},
    {0}};

unsigned policies_make(void) {
    unsigned count = 0;
    for (policy *it = policies; it->name != NULL; it++, count++)
        if (it->group != NULL) {
            it->base = it->frontier = (uint64_t)(count + 1) << 38;
            it->pools = room(sizeof(pool) * CLASSES * POOLS);
            it->next = room(PLACEMENT_SPACE / ALIGN * sizeof(uint64_t));
        }
    return count;
}
