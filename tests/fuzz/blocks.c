#include "blocks.h"

#include <malloc.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "hakmem.h"
#include "programs.h"
#include "../allocator/support/check.h"

enum { END = 256, BETWEEN = 14, ZERO_WHOLE = 1 << 18, ZERO_STEP = 512 };
#define MOST_BYTES ((size_t)64 << 20)

block blocks[SLOTS];
static atomic_bool taken[SLOTS]; /* a thread is at it */
static atomic_size_t live_bytes;
static atomic_uint_fast64_t next_seed;

bool block_fits(size_t size) {
    return size >= TOO_LARGE || atomic_load(&live_bytes) + size <= MOST_BYTES;
}

block *block_take(unsigned slot) {
    block *b = &blocks[slot % SLOTS];
    while (atomic_exchange(&taken[b - blocks], true))
        sched_yield();
    return b;
}

void block_release(const block *b) {
    atomic_store(&taken[b - blocks], false);
}

bool block_is_taken(const block *b) {
    return atomic_load(&taken[b - blocks]);
}

/* ---- contents: all of a small block; both ends and some words of a large one ---- */

static uint64_t word_at(uint64_t seed, size_t offset) {
    uint64_t word = (seed + 1) * 0x9E3779B97F4A7C15u + offset * 0xD6E8FEB86659FD93u;
    return word ^ (word >> 29);
}

/* Writes, or compares, the bytes from .. end. */
static bool touch(char *start, size_t from, size_t end, uint64_t seed, bool writes) {
    bool same = true;
    for (size_t offset = from; offset < end; offset += sizeof(uint64_t)) {
        uint64_t word = word_at(seed, offset);
        size_t length = end - offset < sizeof word ? end - offset : sizeof word;
        if (writes)
            memcpy(start + offset, &word, length);
        else
            same = same && memcmp(start + offset, &word, length) == 0;
    }
    return same;
}

/* The places are those of a block of `size` bytes, as far as they lie below `end`. */
static bool touch_all(char *start, size_t size, size_t end, uint64_t seed, bool writes) {
    if (size <= (size_t)4 * END)
        return touch(start, 0, end, seed, writes);
    bool same = touch(start, 0, END < end ? END : end, seed, writes);
    for (size_t i = 1; i <= BETWEEN; i++) {
        size_t offset = size / (BETWEEN + 1) * i & ~(size_t)7;
        if (offset + sizeof(uint64_t) <= end)
            same = touch(start, offset, offset + sizeof(uint64_t), seed, writes) && same;
    }
    size_t tail = (size - END) & ~(size_t)7;
    return (tail >= end || touch(start, tail, end, seed, writes)) && same;
}

bool is_zero(const char *start, size_t size) {
    if (size <= ZERO_WHOLE)
        return size == 0 || (start[0] == 0 && memcmp(start, start + 1, size - 1) == 0);
    for (size_t offset = 0; offset < size; offset += ZERO_STEP)
        if (start[offset] != 0)
            return false;
    return start[size - 1] == 0;
}

/* ---- the life of a block ---- */

/* While threads run freely, contents alone tell that two blocks overlap. */
static void check_alone(const block *b) {
    for (const block *other = blocks; other < blocks + SLOTS; other++)
        if (other != b && other->start != NULL)
            CHECK_THAT(b->start + b->usable <= other->start ||
                           other->start + other->usable <= b->start,
                       "%p + %zu overlaps %p + %zu", (void *)b->start, b->usable,
                       (void *)other->start, other->usable);
}

void block_begins(block *b, void *start, size_t size, size_t alignment) {
    size_t least = alignment > 16 ? alignment : 16;
    *b = (block){start, size, hak_malloc_usable_size(start), alignment, ++next_seed};
    CHECK_THAT(b->usable >= size, "usable %zu of %zu", b->usable, size);
    CHECK_THAT((uintptr_t)start % least == 0, "%p is not aligned to %zu", start, least);
    if (!programs_run_freely)
        check_alone(b);
    touch_all(b->start, b->usable, b->usable, b->seed, true);
    atomic_fetch_add(&live_bytes, b->usable);
}

void block_check(const block *b) {
    if (b->start == NULL)
        return;
    CHECK_THAT(touch_all(b->start, b->usable, b->usable, b->seed, false),
               "somebody wrote into %p, %zu bytes", (void *)b->start, b->size);
    CHECK_THAT(hak_malloc_usable_size(b->start) == b->usable, "usable size was %zu and is %zu",
               b->usable, hak_malloc_usable_size(b->start));
}

void block_check_copy(const block *b, const char *copy, size_t size) {
    size_t end = size < b->size ? size : b->size;
    CHECK_THAT(touch_all((char *)(uintptr_t)copy, b->usable, end, b->seed, false),
               "the copy of %zu bytes at %p to %zu bytes differs", b->size, (const void *)copy,
               size);
}

void block_ends(block *b) {
    atomic_fetch_sub(&live_bytes, b->usable);
    *b = (block){0};
}
