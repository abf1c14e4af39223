/* Whole pages for a large block, and back: from the home of the thread, a spare run or a mapping.
 */
#pragma once

#include "base/types.h"

/* A run of at least `pages`. `*zeroed` says whether it is all zero. NULL and errno = ENOMEM: there
 * is none, even after what lies free elsewhere was given back. */
hak_slab *hak_large_take(size_t pages, size_t align_pages, bool *zeroed);
/* The same, but it gives nothing back first and counts no refusal. */
hak_slab *hak_large_try(size_t pages, size_t align_pages, bool *zeroed);
/* A block in a mapping of its own. NULL and errno = ENOMEM: there is no room for it. */
void *hak_large_take_apart(size_t size, size_t align);

/* By the owner of the heap, or with no heap at all. */
void hak_large_give(hak_heap *heap, hak_slab *run, bool zeroed);
