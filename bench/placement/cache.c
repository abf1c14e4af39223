#include "cache.h"

#include <string.h>

#include "room.h"

enum { LINE = 6, PAGE = 12 };

/* First level as in Intel's model 207; the second is that of servers before it, the last one a
 * part of what processes share. The TLBs are model 207's for pages of 4 KiB. */
static const cache SHAPES[LEVELS] = {
    [LEVEL_D1] = {.sets = 64, .ways = 12, .shift = LINE},   /* 48 KiB */
    [LEVEL_L2] = {.sets = 1024, .ways = 16, .shift = LINE}, /* 1 MiB */
    [LEVEL_LL] = {.sets = 4096, .ways = 16, .shift = LINE}, /* 4 MiB */
    [LEVEL_TLB] = {.sets = 16, .ways = 6, .shift = PAGE},   /* 96 pages */
    [LEVEL_TLB2] = {.sets = 128, .ways = 16, .shift = PAGE} /* 2,048 pages */
};

void caches_make(caches *all) {
    for (int k = 0; k < LEVELS; k++) {
        all->level[k] = SHAPES[k];
        all->level[k].tags = room(sizeof(uint64_t) * SHAPES[k].sets * SHAPES[k].ways);
    }
}

/* The system gives pages any frames: beyond the first level, which page a line lies in says
 * nothing of its set. So no placement wins or loses by luck with the sets. */
static uint64_t set_of(const cache *it, uint64_t unit) {
    uint64_t page = unit >> (PAGE - LINE);
    if (it->shift == LINE && it->sets > 1u << (PAGE - LINE))
        unit = (unit & ((1 << (PAGE - LINE)) - 1)) |
               (page * 0x9e3779b97f4a7c15ull >> 40 << (PAGE - LINE));
    return unit % it->sets;
}

/* The ways of a set lie newest first. */
static bool hits(cache *it, uint64_t address) {
    uint64_t tag = (address >> it->shift) + 1;
    uint64_t *set = it->tags + set_of(it, tag - 1) * it->ways;
    unsigned way = 0;
    if (set[0] == tag)
        return true;
    while (way < it->ways - 1 && set[way] != tag)
        way++;
    bool found = set[way] == tag;
    memmove(set + 1, set, way * sizeof *set);
    set[0] = tag;
    it->misses += !found;
    return found;
}

static void touch_line(caches *all, uint64_t address, bool in_block) {
    if (!hits(&all->level[LEVEL_TLB], address))
        hits(&all->level[LEVEL_TLB2], address);
    if (hits(&all->level[LEVEL_D1], address) || hits(&all->level[LEVEL_L2], address))
        return;
    all->of_blocks += in_block;
    hits(&all->level[LEVEL_LL], address);
}

void caches_touch(caches *all, uint64_t address, unsigned bytes, bool in_block) {
    uint64_t last = address + bytes - 1;
    touch_line(all, address, in_block);
    if (last >> LINE != address >> LINE)
        touch_line(all, last, in_block);
}
