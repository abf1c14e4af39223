#include "blocks.h"

#include <string.h>

#include "room.h"

enum { PAGE = 12, GRANULE = 4, PER_PAGE = 1 << (PAGE - GRANULE), SITES = 1 << 20 };
enum { MOST_PAGES = 1 << 22, MOST_BLOCKS = 1 << 26 };

/* Page number -> its row of granules -> number of the block. */
static uint32_t *rows;
static uint32_t (*granules)[PER_PAGE];
static uint32_t pages_used;
static block *blocks;
static uint32_t blocks_used, free_block;

static void prepare(void) {
    rows = room(sizeof *rows << (48 - PAGE));
    granules = room(sizeof *granules * MOST_PAGES);
    blocks = room(sizeof *blocks * MOST_BLOCKS);
}

static uint32_t *granule_of(uint64_t address) {
    uint32_t *row = &rows[address >> PAGE];
    if (*row == 0)
        *row = ++pages_used;
    return &granules[*row][address >> GRANULE & (PER_PAGE - 1)];
}

block *block_of(uint64_t address) {
    if (rows == NULL || rows[address >> PAGE] == 0)
        return NULL;
    uint32_t number = *granule_of(address);
    return number == 0 ? NULL : &blocks[number];
}

static void mark(const block *it, uint32_t number) {
    for (uint64_t at = 0; at < it->size; at += 1 << GRANULE)
        *granule_of(it->from + at) = number;
}

/* Numbers of removed blocks are used again: the first word of such a block is the next one. */
block *block_add(uint64_t address, uint64_t size) {
    if (rows == NULL)
        prepare();
    uint32_t number = free_block != 0 ? free_block : ++blocks_used;
    block *it = &blocks[number];
    if (free_block != 0)
        free_block = (uint32_t)it->from;
    *it = (block){.from = address, .size = size == 0 ? 1 : (uint32_t)size};
    mark(it, number);
    return it;
}

void block_remove(block *it) {
    mark(it, 0);
    it->from = free_block;
    free_block = (uint32_t)(it - blocks);
}

static uint64_t digests[SITES];
static uint32_t numbers[SITES * 2];
static uint32_t sites;

uint32_t site_number(uint64_t digest) {
    uint64_t at = digest * 0x9e3779b97f4a7c15ull >> 43;
    while (numbers[at] != 0 && digests[numbers[at]] != digest)
        at = (at + 1) & (SITES * 2 - 1);
    if (numbers[at] == 0 && sites < SITES - 1) {
        numbers[at] = ++sites;
        digests[sites] = digest;
    }
    return numbers[at];
}

uint64_t site_digest(uint32_t number) {
    return digests[number];
}

uint32_t site_count(void) {
    return sites;
}
