#include "large/block.h"

#include "os/os.h"
#include "pages/apart.h"
#include "pages/dense.h"
#include "pages/dirty.h"
#include "pages/epoch.h"
#include "pages/excess.h"
#include "pages/quota.h"
#include "pages/range.h"
#include "pages/run.h"
#include "pages/run_cache.h"
#include "pages/spare.h"
#include "policy/policy.h"
#include "thread/thread.h"

/* A home is the range in which a thread looks for room first. Threads take turns in them at their
 * first large block. So a program in which one thread alone asks for large blocks has one home. */
static unsigned home_of(hak_heap *heap) {
    static _Atomic unsigned given;
    if (HAK_GUARD || heap == NULL)
        return HAK_FIRST_HOME;
    if (heap->home == 0) {
        unsigned turn = atomic_fetch_add_explicit(&given, 1, memory_order_relaxed);
        heap->home = (uint8_t)(HAK_FIRST_HOME + turn % (HAK_HOMES - HAK_FIRST_HOME));
    }
    return heap->home;
}

static hak_slab *take_huge_run(size_t pages, size_t align_pages, bool *zeroed) {
    hak_slab *run = hak_run_take(HAK_FIRST_HOME, pages, align_pages, zeroed);
    if (run != NULL)
        run->faults = hak_excess_faults();
    size_t left = run != NULL && run->before > pages ? run->before - pages : 0;
    if (hak_excess_note_tail(left) && hak_policy_may_purge_now())
        hak_dirty_purge_behind(run, left);
    return run;
}

static hak_slab *take_huge(size_t pages, size_t align_pages, bool *zeroed) {
    hak_excess_look();
    hak_slab *run = hak_spare_take(pages, align_pages, zeroed);
    if (run == NULL)
        return take_huge_run(pages, align_pages, zeroed);
    run->faults = *zeroed ? hak_excess_faults() : hak_spare_faults();
    run->touched = 0;
    return run;
}

static hak_slab *take_at_home(size_t pages, size_t align_pages, bool *zeroed) {
    hak_heap *heap = hak_thread_enter();
    unsigned home = home_of(heap);
    hak_slab *run = heap != NULL && align_pages == 1
                        ? hak_run_cache_fill(heap, home, pages, zeroed)
                        : hak_run_take(home, pages, align_pages, zeroed);
    if (run != NULL && heap != NULL)
        heap->large_range = hak_range_of((void *)run->start);
    hak_thread_leave(heap);
    return run;
}

hak_slab *hak_large_try(size_t pages, size_t align_pages, bool *zeroed) {
    return hak_large_is_huge(pages) ? take_huge(pages, align_pages, zeroed)
                                    : take_at_home(pages, align_pages, zeroed);
}

/* Gives back what lies free in magazines and slabs, and tries again. A request that is longer than
 * all of the address space in use gains nothing by it. */
static HAK_COLD hak_slab *take_after_purge(size_t pages, size_t align_pages, bool *zeroed) {
    hak_slab *run = NULL;
    if (pages <= hak_range_pages()) {
        hak_heap_purge_all();
        run = hak_large_try(pages, align_pages, zeroed);
    }
    return run != NULL ? run : hak_quota_refuse(pages << HAK_PAGE_SHIFT);
}

hak_slab *hak_large_take(size_t pages, size_t align_pages, bool *zeroed) {
    hak_slab *run = hak_large_try(pages, align_pages, zeroed);
    return HAK_LIKELY(run != NULL) ? run : take_after_purge(pages, align_pages, zeroed);
}

/* Gives the memory of a run to the system at once. False: some of it is still there. */
static bool purge(const hak_slab *run) {
    return hak_policy_may_purge_now() && hak_os_purge((void *)run->start, hak_large_bytes(run));
}

static void give_pages(hak_slab *run, bool zeroed) {
    hak_run_give(run, zeroed, false);
    hak_purge_expect();
}

/* run->faults is the process's count of page faults when the block was taken. Pages of the run that
 * were dirty then cause no fault, and count as if they had. All is read before the run is given
 * away, for then it may be somebody else's. */
static void give_huge(hak_slab *run, bool zeroed) {
    uint64_t faults = run->faults - hak_excess_faults_of(run->touched);
    enum hak_freed how = hak_excess_huge(run, faults);
    bool goes = zeroed || how != HAK_FREED_DENSE, was_huge = goes && hak_dense_leave_run(run);
    if (how == HAK_FREED_SPARSE) /* on huge pages it holds more than the count of faults says */
        hak_spare_give(run, zeroed || (was_huge && purge(run)), faults);
    else
        give_pages(run, zeroed || (how == HAK_FREED_RARELY && purge(run)));
}

void hak_large_give(hak_heap *heap, hak_slab *run, bool zeroed) {
    if (!zeroed && heap != NULL && hak_run_cache_push(heap, run))
        return;
    if (hak_large_is_huge(run->pages))
        give_huge(run, zeroed);
    else
        give_pages(run, zeroed);
}

void *hak_large_take_apart(size_t size, size_t align) {
    void *block = hak_apart_take(size, align);
    return block != NULL ? block : hak_quota_refuse(size);
}
