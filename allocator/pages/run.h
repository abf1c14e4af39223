/* Runs of pages, taken from segments and given back.
 *
 * Memory that a thread has just used is in the cache of its processor. If another thread gets it
 * next, each line of it travels from cache to cache. So each thread that asks for large blocks gets
 * one of a few homes, in turn: ranges in which it looks for free room first. Then it looks in the
 * other ranges: no memory lies idle while more is asked for. New segments come at home.
 *
 * The first home is the range that everything else lies in. A program in which one thread alone
 * asks for large blocks has no other home. */
#pragma once

#include "base/types.h"

enum {
    HAK_HOME_OF_SLABS, /* the first range alone, as long as it can grow: free looks there first */
    HAK_FIRST_HOME,    /* in the first range, too */
    HAK_HOMES = 9
};

/* A run of `pages` pages whose first is aligned to `align` pages (a power of two), at this home
 * first; *zeroed says that all of it reads as zero. The head's start, pages and bitmap are set, the
 * rest is for the caller. NULL: out of memory. Any thread. */
hak_slab *hak_run_take(unsigned home, size_t pages, size_t align, bool *zeroed);

/* The same for up to *count runs of `pages` pages side by side: as many as lie free there. Their
 * heads are `pages` apart; those behind the first are marked AHEAD. */
hak_slab *hak_run_take_row(unsigned home, size_t pages, size_t align, size_t *count, bool *zeroed);

/* Whether so many pages lie free side by side, so that a run of them needs no new memory. */
bool hak_run_has_room(size_t pages);

/* Gives a run back. Its pages are dirty from now on, or clean when `zeroed`; or they lay free since
 * before the purge epoch began, and go when that ends (`aged`). Any thread. */
void hak_run_give(hak_slab *head, bool zeroed, bool aged);

/* The same, under the segment lock. */
void hak_run_give_locked(hak_slab *head, bool zeroed, bool aged);

/* Makes a run longer, in place. False: the pages behind it are not free. */
bool hak_run_extend(hak_slab *head, size_t pages);

/* Gives the pages behind the first `pages` of a run back. */
void hak_run_trim(hak_slab *head, size_t pages);
