#include "large/block.h"
#include "large/large.h"
#include "pages/apart.h"
#include "pages/epoch.h"
#include "pages/excess.h"
#include "pages/run.h"
#include "pages/run_cache.h"
#include "pages/spare.h"
#include "sampling/sampling.h"
#include "sampling/sites.h"
#include "stats/stats.h"

#include <string.h>

/* Blocks of 32 MiB or more grow by moving page tables, not bytes. A block apart that shrinks to
 * less is copied into a range. */
enum { MOVE_PAGES = 512 };

/* Blocks that shrink leave holes of their old length without the slack. Where only those are free
 * the block goes without slack: else the heap would grow beside them. */
static bool has_room_without_slack(size_t pages, size_t with_slack) {
    return with_slack > pages && !hak_large_is_huge(with_slack) && !hak_run_has_room(with_slack) &&
           hak_run_has_room(pages);
}

static hak_slab *take_with_slack(size_t pages) {
    bool zeroed;
    size_t with_slack = pages + pages / HAK_SLACK_SHARE;
    hak_slab *run =
        has_room_without_slack(pages, with_slack) ? NULL : hak_large_try(with_slack, 1, &zeroed);
    return run != NULL ? run : hak_large_take(pages, 1, &zeroed);
}

static void *allocate_to_grow(size_t size) {
    if (hak_apart_wants(size, 1))
        return hak_large_take_apart(size, 1);
    hak_slab *run = take_with_slack(hak_pages_for(size));
    return run != NULL ? hak_large_begin(run, size) : NULL;
}

/* Copies only what the program may use: the run may be several times as long. */
static void *copy(const hak_slab *from, size_t size) {
    void *to = allocate_to_grow(size);
    if (to != NULL)
        memcpy(to, (void *)from->start,
               hak_large_usable(from) < size ? hak_large_usable(from) : size);
    return to;
}

static void *move(hak_slab *from, size_t size) {
    void *apart = from->pages >= MOVE_PAGES ? hak_apart_take_over(from, size) : NULL;
    void *to = apart != NULL ? apart : copy(from, size);
    if (to == NULL)
        return NULL;
    HAK_COUNT(blocks_moved, apart != NULL);
    hak_heap *heap = hak_thread_enter();
    hak_large_give(heap, from, apart != NULL);
    hak_large_tick(heap);
    hak_thread_leave(heap);
    return to;
}

/* A block that grows into a huge one counts as touched in all of its old pages. */
static bool extend(hak_slab *run, size_t pages) {
    uint32_t before = run->pages;
    bool done = hak_run_extend(run, pages);
    if (done && hak_large_is_huge(pages) && !hak_large_is_huge(before)) {
        run->faults = hak_excess_faults();
        run->touched = before + run->touched;
    }
    return done;
}

/* The pages behind the block may wait in a run cache or as a spare run: those go back first. */
static bool make_room(void) {
    hak_heap *heap = hak_thread_enter();
    bool any = heap != NULL && hak_run_cache_empty(heap, false);
    hak_thread_leave(heap);
    return hak_spare_release() || any;
}

static bool grow_in_place(hak_slab *run, size_t pages) {
    return pages <= run->pages || extend(run, pages) || (make_room() && extend(run, pages));
}

/* A block apart that becomes small is copied; so is one whose mapping the program has cut. */
static void *resize_apart(void *block, size_t size) {
    size_t before = hak_large_size_apart(block, "realloc");
    void *resized = hak_pages_for(size) >= MOVE_PAGES ? hak_apart_resize(block, size) : NULL;
    if (resized != NULL)
        return resized;
    void *copy = hak_large_allocate(size, 1, false);
    if (copy == NULL)
        return size <= before ? block : NULL;
    memcpy(copy, block, before < size ? before : size);
    hak_large_give_apart(block, "realloc");
    return copy;
}

/* A block keeps the slack that it got when it grew, and as much when it shrinks. */
static void trim(hak_slab *run, size_t pages) {
    if (pages >= run->pages - run->pages / HAK_SLACK_SHARE)
        return;
    hak_run_trim(run, pages);
    hak_purge_expect();
    hak_heap_look();
}

static void *resize(void *block, size_t size) {
    hak_slab *run = hak_large_find(block, "realloc");
    if (run == NULL)
        return resize_apart(block, size);
    if (hak_apart_wants(size, 1))
        return move(run, size);
    size_t pages = hak_pages_for(size);
    if (!grow_in_place(run, pages))
        return move(run, size);
    run->large_size = size;
    trim(run, pages);
    return block;
}

/* While a heap profile runs no block is widened: its sample would keep the old size. */
HAK_COLD size_t hak_large_widen(void *block, size_t size) {
    const char *function = "hak_resize_in_place";
    hak_slab *run = hak_large_find(block, function);
    if (run == NULL)
        return hak_large_size_apart(block, function);
    bool may = size > hak_large_usable(run) && size <= PTRDIFF_MAX && !hak_apart_wants(size, 1);
    if (may && !hak_sampling_ever() && grow_in_place(run, hak_pages_for(size)))
        run->large_size = size;
    return hak_large_usable(run);
}

/* A block of n bytes became a sample by the chance of n bytes. When it grows to m, the m - n new
 * bytes are drawn for as well, so that it has the chance of m bytes. */
static HAK_COLD void *resize_counted(void *block, size_t size) {
    size_t before = hak_large_size(block, "realloc");
    bool was_sample = hak_sites_end(block);
    bool due = size > before && hak_large_sample_is_due(size - before);
    void *resized = resize(block, size);
    if (was_sample || (due && resized != NULL))
        hak_large_note_sample(resized != NULL ? resized : block, resized != NULL ? size : before);
    return resized;
}

void *hak_large_resize(void *block, size_t size) {
    if (HAK_UNLIKELY(hak_sampling_ever()))
        return resize_counted(block, size);
    return resize(block, size);
}
