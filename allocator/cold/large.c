#include "cold/large.h"

#include "base/bits.h"
#include "base/fatal.h"
#include "cold/epoch.h"
#include "cold/purge.h"
#include "cold/thread.h"
#include "os/os.h"
#include "pages/dirty.h"
#include "pages/excess.h"
#include "pages/range.h"
#include "pages/segment.h"
#include "pages/spare.h"
#include "policy/policy.h"
#include "stats/stats.h"

#include <errno.h>
#include <string.h>

enum {
    MOVE_PAGES = 32,   /* from here on page tables are moved instead of bytes: 2 MiB */
    MOST_MOVES = 8192, /* in the life of a process: each leaves a mapping that the system cannot
                        * join to its neighbours, and by default it allows 65,530 */
    ZERO_PAGES = 16,   /* from here on fresh pages are cheaper than zeroing used ones: 1 MiB */
    TRIM_SHARE = 8,    /* a shrunk block keeps its pages unless 1/8 of them become free */
    SLACK_SHARE = 4    /* a block that had to move gets 1/4 more address space, not memory */
};

static size_t pages_for(size_t size) {
    return (size + HAK_PAGE_SIZE - 1) >> HAK_PAGE_SHIFT;
}

static size_t bytes_in(const hak_slab *run) {
    return (size_t)run->pages << HAK_PAGE_SHIFT;
}

/* A large block may be used up to the end of the system page that its last byte lies in; the rest
 * of its run is address space, for growing in place. */
static void set_size(hak_slab *run, size_t size) {
    run->large_size = hak_round_up(size, hak_os_page_size());
}

static void tick(void) {
    hak_heap *heap = hak_heap_self();
    if (heap != NULL)
        hak_purge_tick(heap, HAK_CLASS_NONE);
}

static bool is_huge(size_t pages) {
    return pages >= HAK_HUGE_PAGES;
}

/* Threads in turn; whose program has one thread that asks for large blocks stays in one range. */
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

/* What was dirty counts as if it had been touched in the life of the block. */
static void add_touched(hak_slab *run) {
    run->faults -= hak_excess_faults_of(run->touched);
}

static hak_slab *take_pages(unsigned home, size_t pages, size_t align_pages, bool *zeroed) {
    hak_slab *run = hak_run_take(home, pages, align_pages, zeroed);
    if (run != NULL) {
        run->faults = hak_excess_faults();
        add_touched(run);
    }
    return run;
}

static hak_slab *take_huge_run(size_t pages, size_t align_pages, bool *zeroed) {
    hak_slab *run = take_pages(HAK_FIRST_HOME, pages, align_pages, zeroed);
    size_t left = run != NULL && run->before > pages ? run->before - pages : 0;
    if (hak_excess_tail(left) && hak_policy_may_purge_now())
        hak_dirty_purge_behind(run, left);
    return run;
}

static hak_slab *take_huge(size_t pages, size_t align_pages, bool *zeroed) {
    hak_excess_look();
    hak_slab *run = hak_spare_take(pages, align_pages, zeroed);
    if (run == NULL)
        return take_huge_run(pages, align_pages, zeroed);
    run->faults = *zeroed ? hak_excess_faults() : hak_excess_spare_since();
    return run;
}

static hak_slab *try_to_take(size_t pages, size_t align_pages, bool *zeroed) {
    hak_slab *run = is_huge(pages)
                        ? take_huge(pages, align_pages, zeroed)
                        : take_pages(home_of(hak_heap_self()), pages, align_pages, zeroed);
    if (run != NULL)
        run->kind = HAK_RUN_LARGE;
    return run;
}

/* What lies free in magazines and slabs may make room; not for what is longer than all there is. */
static HAK_COLD hak_slab *take_after_purge(size_t pages, size_t align_pages, bool *zeroed) {
    hak_slab *run = NULL;
    if (pages <= hak_range_pages()) {
        hak_purge_all(hak_heap_self());
        run = try_to_take(pages, align_pages, zeroed);
    }
    if (run == NULL)
        errno = ENOMEM;
    return run;
}

static hak_slab *take(size_t pages, size_t align_pages, bool *zeroed) {
    hak_slab *run = try_to_take(pages, align_pages, zeroed);
    return HAK_LIKELY(run != NULL) ? run : take_after_purge(pages, align_pages, zeroed);
}

/* Takes the memory of a run away at once. False: it still has some. */
static bool purge(const hak_slab *run) {
    return hak_policy_may_purge_now() && hak_os_purge((void *)run->start, bytes_in(run));
}

static void give_pages(hak_slab *run, bool zeroed) {
    hak_run_give(run, zeroed);
    hak_purge_expect();
}

static void give_huge(hak_slab *run, bool zeroed) {
    uint64_t faults = run->faults; /* once it is given it may be anybody's */
    enum hak_freed how = hak_excess_huge(run->pages, faults);
    if (how == HAK_FREED_SPARSE) {
        hak_spare_give(run, zeroed);
        hak_purge_expect_spare(faults);
    } else {
        give_pages(run, zeroed || (how == HAK_FREED_RARELY && purge(run)));
    }
}

static void give(hak_slab *run, bool zeroed) {
    if (is_huge(run->pages))
        give_huge(run, zeroed);
    else
        give_pages(run, zeroed);
}

/* Fresh memory from the system is zero, and costs nothing where it is never touched. */
static void make_zero(hak_slab *run, size_t size) {
    if (run->pages < ZERO_PAGES || !hak_os_purge((void *)run->start, bytes_in(run)))
        memset((void *)run->start, 0, size);
}

void *hak_large_allocate(size_t size, size_t align, bool zero) {
    bool zeroed;
    size_t pages = pages_for(size);
    size_t align_pages = align > HAK_PAGE_SIZE ? align >> HAK_PAGE_SHIFT : 1;
    hak_slab *run = take(pages, align_pages, &zeroed);
    if (run == NULL)
        return NULL;
    set_size(run, size);
    if (zero && !zeroed)
        make_zero(run, size);
    tick();
    return (void *)run->start;
}

/* ---- finding a block ---- */

/* The large run that covers page `page` of r, for the error message; NULL when none does. */
static const hak_slab *covering_run(const hak_range *r, size_t page) {
    for (size_t back = page + 1; back-- > 0;) {
        const hak_slab *run = &r->slabs[back];
        if (run->kind != HAK_RUN_FREE)
            return run->kind == HAK_RUN_LARGE && back + run->pages > page ? run : NULL;
    }
    return NULL;
}

static _Noreturn HAK_COLD void refuse_pointer(const void *p, const char *function) {
    const hak_range *r = hak_range_of(p);
    if (r == NULL)
        hak_fatal("invalid pointer", function, p, "no allocation of this process returned it");
    const hak_slab *run = &r->slabs[hak_page_index(r, p)];
    if (run->kind == HAK_RUN_SLAB || run->kind == HAK_RUN_SLAB_TAIL)
        hak_fatal("heap corruption", function, p, "class map and slab table disagree");
    if (covering_run(r, hak_page_index(r, p)) != NULL)
        hak_fatal("invalid pointer", function, p, "inside a large block, not its start");
    hak_fatal("double free", function, p, "its pages are free already");
}

static hak_slab *find(const void *block, const char *function) {
    hak_slab *run = hak_run_of(block);
    if (run == NULL || run->kind != HAK_RUN_LARGE || run->start != (uintptr_t)block)
        refuse_pointer(block, function);
    return run;
}

size_t hak_large_size(const void *block, const char *function) {
    return find(block, function)->large_size;
}

void hak_large_free(void *block) {
    give(find(block, "free"), false);
}

/* ---- another size ---- */

static hak_slab *take_with_slack(size_t pages) {
    bool zeroed;
    hak_slab *run = try_to_take(pages + pages / SLACK_SHARE, 1, &zeroed);
    return run != NULL ? run : take(pages, 1, &zeroed);
}

/* A system that once took a target away would do it each time. */
static _Atomic bool a_target_was_lost;

static bool may_move(const hak_slab *from) {
    return from->pages >= MOVE_PAGES && HAK_COUNTED(blocks_moved) < MOST_MOVES &&
           !atomic_load_explicit(&a_target_was_lost, memory_order_relaxed);
}

/* A run may be several times as long as what the program may use of it: the rest is not read. */
static enum hak_move move_bytes(const hak_slab *from, const hak_slab *to) {
    enum hak_move done = HAK_NOT_MOVED;
    if (may_move(from))
        done = hak_os_move((void *)from->start, (void *)to->start, bytes_in(from));
    if (done == HAK_NOT_MOVED)
        memcpy((void *)to->start, (void *)from->start, from->large_size);
    return done;
}

static void *move(hak_slab *from, size_t size) {
    hak_slab *to = take_with_slack(pages_for(size));
    if (to == NULL)
        return NULL;
    enum hak_move done = move_bytes(from, to);
    if (done == HAK_TARGET_LOST) { /* that run stays taken: something else may be mapped there */
        atomic_store_explicit(&a_target_was_lost, true, memory_order_relaxed);
        return move(from, size);
    }
    set_size(to, size);
    if (done == HAK_MOVED)
        to->faults -= hak_excess_faults() - from->faults;
    give(from, done == HAK_MOVED);
    HAK_COUNT(blocks_moved, done == HAK_MOVED);
    tick();
    return (void *)to->start;
}

static bool extend(hak_slab *run, size_t pages) {
    bool done = hak_run_extend(run, pages);
    if (done)
        add_touched(run);
    return done;
}

static bool grow_in_place(hak_slab *run, size_t pages) {
    return pages <= run->pages || extend(run, pages) || (hak_spare_release() && extend(run, pages));
}

void *hak_large_resize(void *block, size_t size) {
    hak_slab *run = find(block, "realloc");
    size_t pages = pages_for(size);
    if (!grow_in_place(run, pages))
        return move(run, size);
    set_size(run, size);
    if (pages < run->pages - run->pages / TRIM_SHARE) {
        hak_run_trim(run, pages);
        hak_purge_expect();
        tick();
    }
    return block;
}
