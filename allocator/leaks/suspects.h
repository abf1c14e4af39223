/* Suspects: the live blocks among which leaks are looked for, in one array by address, with what is
 * known about each. They lie in a mapping by themselves, which nothing else knows of.
 *
 *   | suspect | suspect | ... |    waiting: | number | number | ... |    buffer for memory
 *
 * One thread, once in a process. */
#pragma once

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hak_verdict {
    HAK_UNREACHED, /* nothing that was looked at points into it */
    HAK_REACHED,
    HAK_DIRECT,   /* a leak, and no other leak points to it; of a circle one block */
    HAK_INDIRECT, /* a leak that others point to */
    HAK_COUNTED   /* the same, and its bytes are counted with those of a direct one */
};

typedef struct hak_suspect {
    uintptr_t start;
    size_t size;
    uint32_t origin; /* who asked for it: leaks/origins.h */
    uint32_t verdict;
} hak_suspect;

enum { HAK_LOOK_BYTES = 1 << 18 };
typedef struct hak_suspects {
    hak_suspect *all;
    size_t count, most;
    uint32_t *waiting; /* those that are reached, whose own memory was not looked at yet */
    size_t waiting_count;
    uintptr_t *buffer; /* HAK_LOOK_BYTES */
    size_t mapped;     /* bytes of it all, from the first suspect on */
} hak_suspects;
extern HAK_HIDDEN hak_suspects hak_suspected;

/* Makes room for so many. False: out of memory, or too many. */
bool hak_suspects_open(size_t most);

/* One more; without room, nothing. */
void hak_suspects_add(const void *block, size_t size, uint32_t origin);

/* Before the next one. */
void hak_suspects_sort(void);

/* The one that an address lies in; NULL: none. A block of no bytes has its first address. */
hak_suspect *hak_suspects_find(uintptr_t address);
