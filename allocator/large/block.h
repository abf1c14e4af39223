/* What the files of this folder share: a large block and its run, and the heap at work on it. */
#pragma once

#include "base/bits.h"
#include "os/os.h"
#include "pages/excess.h"
#include "reclaim/purge.h"
#include "thread/thread.h"

HAK_INLINE size_t hak_large_bytes(const hak_slab *run) {
    return (size_t)run->pages << HAK_PAGE_SHIFT;
}

/* A large block may be used up to the end of the system page that its last byte lies in; the rest
 * of its run is address space, for growing in place. */
HAK_INLINE size_t hak_large_usable(const hak_slab *run) {
    return hak_round_up(run->large_size, hak_os_page_size());
}

HAK_INLINE void *hak_large_begin(hak_slab *run, size_t size) {
    run->kind = HAK_RUN_LARGE;
    run->large_size = size;
    return (void *)run->start;
}

HAK_INLINE bool hak_large_is_huge(size_t pages) {
    return pages >= HAK_HUGE_PAGES;
}

HAK_INLINE void hak_large_tick(hak_heap *heap) {
    if (heap != NULL)
        hak_purge_tick(heap, HAK_CLASS_NONE);
}

/* ---- whole pages for a block, and back: from the home of the thread, a spare run or a mapping
 * ---- */

/* A run of at least `pages`. `*zeroed` says whether it is all zero. NULL and errno = ENOMEM: there
 * is none, even after what lies free elsewhere was given back. */
hak_slab *hak_large_take(size_t pages, size_t align_pages, bool *zeroed);
/* The same, but it gives nothing back first and counts no refusal. */
hak_slab *hak_large_try(size_t pages, size_t align_pages, bool *zeroed);
/* A block in a mapping of its own. NULL and errno = ENOMEM: there is no room for it. */
void *hak_large_take_apart(size_t size, size_t align);

/* By the owner of the heap, or with no heap at all. */
void hak_large_give(hak_heap *heap, hak_slab *run, bool zeroed);

/* ---- from a pointer to its block ---- */

/* A pointer that is none ends the program, naming `function`. NULL: it lies outside of all ranges.
 */
hak_slab *hak_large_find(const void *block, const char *function);

/* Blocks outside of all ranges: those of the sampled guard, and those apart. */
size_t hak_large_size_apart(const void *block, const char *function);
void hak_large_give_apart(void *block, const char *function);

/* ---- samples of a heap profile ---- */

/* Counts `bytes` of this thread. True: the block that they are for is to be a sample. */
HAK_COLD bool hak_large_sample_is_due(size_t bytes);
/* The block is a sample, or goes on being one with another size. */
HAK_COLD void hak_large_note_sample(void *block, size_t size);
