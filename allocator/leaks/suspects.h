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

/* ---- which of them memory points to, and which of those that are left hold the others ---- */

/* Roots: memory from which the program can find its blocks, as far as it can be known from outside.
 *
 *   writable memory of the program and of its libraries      their variables
 *   all stacks, with what threads have for themselves        thread-local variables lie there, too
 *   what the program has mapped by itself
 *   pages that were written to and can only be read now
 *
 * Not the allocator's own memory, which knows all blocks, and not the suspects.
 *
 * Reaches from all roots, of the calling thread's stack from `stack` on, and then from all that is
 * reached. False: the system does not say where memory is mapped. */
bool hak_roots_look(uintptr_t stack);

/* Says of all that were not reached whether they are direct. Returns how many were not. */
size_t hak_reach_split(void);

/* Counts the indirect suspects that this direct one holds, but for those that were counted already,
 * and their bytes. */
size_t hak_reach_count(hak_suspect *direct, size_t *bytes);
