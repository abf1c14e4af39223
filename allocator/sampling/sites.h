/* Sites: where sampled blocks were asked for, how often, and which of them live.
 *
 *   live   | block -> site |       | block -> site |  ...      one for each sample that is not freed
 *   sites  | size, stack: allocated, live          |  ...      one for each call stack and size,
 *                                                              sizes within 1/8 taken together
 *
 * Both are tables of a fixed size, mapped at the first start and filled as far as they are used:
 * 2.4 MiB for 8,192 sites, 1.3 MiB for 49,152 blocks. What finds no room is counted as lost. One
 * lock for all, taken for each sample and at its end; nothing is called under it. */
#pragma once

#include "sampling/stack.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hak_site_counts {
    uint64_t live, live_bytes, allocated, allocated_bytes;
} hak_site_counts;

typedef struct hak_site {
    size_t size; /* the least of its blocks' */
    hak_site_counts counts;
    hak_stack stack;
} hak_site;

/* Maps the tables, once. False: out of memory. Any thread. */
bool hak_sites_open(void);

/* A block of `size` bytes that was asked for here is a sample; and it is one no more. False: it was
 * none. Any thread. */
void hak_sites_begin(const void *block, size_t size);
bool hak_sites_end(const void *block);

/* Forgets all live samples but those that `keep` says true of, and all that begin later. Returns
 * how many are left, and about how many bytes they stand for. At the end of the process. */
size_t hak_sites_keep_only(bool (*keep)(const void *block), uint64_t *stand_for);

/* Calls `visit` with a copy of each site; samples may come and go meanwhile. */
void hak_sites_each(void (*visit)(const hak_site *site, void *context), void *context);

/* Each time the live samples stand for so many percent more than at the last peak, heaps look again
 * at what is in force, and the question below is answered by yes, once. The first peak is at 64
 * times the rate. 0: never. */
void hak_sites_watch_peak(unsigned percent);
bool hak_sites_take_peak(void);

uint64_t hak_sites_lost(void);

void hak_sites_after_fork_in_child(void);
