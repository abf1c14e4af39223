/* Runs of pages, taken from segments and given back. */
#pragma once

#include "base/types.h"
#include "pages/home.h"

/* A run of `pages` pages whose first is aligned to `align` pages (a power of two), at this home
 * first; *zeroed says that all of it reads as zero. The head's start, pages and bitmap are set, the
 * rest is for the caller. NULL: out of memory. Any thread. */
hak_slab *hak_run_take(unsigned home, size_t pages, size_t align, bool *zeroed);

/* The same for up to *count runs of `pages` pages side by side: as many as lie free there. Their
 * heads are `pages` apart; those behind the first are marked AHEAD. */
hak_slab *hak_run_take_row(unsigned home, size_t pages, size_t *count, bool *zeroed);

/* Gives a run back; its pages are dirty from now on, or clean when `zeroed`. Any thread. */
void hak_run_give(hak_slab *head, bool zeroed);

/* Gives one back that lay free since before the purge epoch began: it goes when that ends. */
void hak_run_give_aged(hak_slab *head);

/* Both, under the segment lock. */
void hak_run_give_locked(hak_slab *head, bool zeroed, bool aged);

/* Makes a run longer, in place. False: the pages behind it are not free. */
bool hak_run_extend(hak_slab *head, size_t pages);

/* Gives the pages behind the first `pages` of a run back. */
void hak_run_trim(hak_slab *head, size_t pages);
