/* Spare runs: the huge runs that were freed last, whole. Most huge blocks live and die in them. So
 * the tree of rooms, and the many segments of a huge run, need not be told of each block. A spare
 * run may be too long for its block. That wastes addresses, not memory; where addresses are scarce
 * or limited there are no spare runs. They go back to their segments when an epoch ends. */
#pragma once

#include "base/types.h"

/* As hak_run_take. The run may be longer than was asked for; NULL: no spare run fits. */
hak_slab *hak_spare_take(size_t pages, size_t align, bool *zeroed);

/* As hak_run_give. `faults` is the count of page faults (pages/excess.h) when the run held nothing.
 * If all spare runs together may hold more than HAKMEM_HUGE_KEEP, it goes at once. */
void hak_spare_give(hak_slab *run, bool zeroed, uint64_t faults);

/* A count at which no spare run held anything. */
uint64_t hak_spare_faults(void);

/* Gives what the spare runs hold back to the system; those that it does not take at once go back to
 * their segments. Any thread. */
void hak_spare_purge(void);

/* Gives all spare runs back to their segments. False: there was none. */
bool hak_spare_release(void);

/* Their pages: without the lock, while others go on. */
size_t hak_spare_pages(void);

/* In a forked child nobody knows which of the runs read as zero, and nobody clears one. */
void hak_spare_after_fork_in_child(void);
