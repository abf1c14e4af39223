/* Homes: ranges in which the large blocks of some threads lie.
 *
 * Memory that a thread has just used is in the cache of its processor. If another thread gets it
 * next, each line of it travels from cache to cache. So each thread that asks for large blocks gets
 * one of a few homes, in turn. It looks for free room at home first, then in the other ranges: no
 * memory lies idle while more is asked for. New segments come at home.
 *
 * The first home is the range that everything else lies in. A program in which one thread alone
 * asks for large blocks has no other home. All functions need the segment lock. */
#pragma once

#include "base/types.h"

enum {
    HAK_HOME_OF_SLABS, /* the first range alone, as long as it can grow: free looks there first */
    HAK_FIRST_HOME,    /* in the first range, too */
    HAK_HOMES = 9
};

/* Index of the home's range; 0, the first, while it has none of its own. */
size_t hak_home_range(unsigned home);

/* Gives the home a range of its own, if it has none yet. NULL: it needs none, or address space is
 * scarce. */
hak_range *hak_home_settle(unsigned home);
