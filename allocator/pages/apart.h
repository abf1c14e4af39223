/* Blocks apart: those of 1 GiB and more. Each is a mapping of its own outside of all ranges, so it
 * costs no tables, no lock, and nothing is left of it when it is freed. The system says at once
 * when it could never back one.
 *
 * Guard builds have none: their records lie beside ranges. */
#pragma once

#include "base/types.h"

/* Whether a block of this size, or one that is aligned so coarsely, lies apart. */
bool hak_apart_wants(size_t size, size_t align);

/* A new block; all of it reads as zero. NULL: out of memory. */
void *hak_apart_take(size_t size, size_t align);

/* Bytes that may be used of the block that begins here; 0: none does. */
size_t hak_apart_size(const void *block);

/* Unmaps it. False: no block begins here. Of two threads that free the same one, one gets that
 * answer. */
bool hak_apart_give(void *block);

/* Another size for a block, which may move without being copied. NULL: the system refuses, and
 * nothing has happened. */
void *hak_apart_resize(void *block, size_t size);

/* Makes a block of what a run holds, without copying; the run is empty then. NULL as above. */
void *hak_apart_take_over(const hak_slab *run, size_t size);

/* Where a pointer points at which no block begins, for the message. */
enum hak_apart_place { HAK_APART_NOWHERE, HAK_APART_INSIDE, HAK_APART_FREED };
enum hak_apart_place hak_apart_place_of(const void *p);

/* Calls `visit` for each. Any thread; others may go on. */
void hak_apart_each(void (*visit)(const void *block, size_t size));

/* How many there are, and their bytes. Any thread; others may go on. */
size_t hak_apart_count(size_t *bytes);

/* In a forked child: counts them anew. Another thread may have been about to map one. */
void hak_apart_after_fork_in_child(void);
