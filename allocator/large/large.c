#include "large/large.h"

#include "base/bits.h"
#include "base/fatal.h"
#include "heap/owner.h"
#include "magazine/arm.h"
#include "os/os.h"
#include "os/stack.h"
#include "pages/apart.h"
#include "pages/dirty.h"
#include "pages/epoch.h"
#include "pages/excess.h"
#include "pages/range.h"
#include "pages/run.h"
#include "pages/run_cache.h"
#include "pages/segment.h"
#include "pages/spare.h"
#include "policy/policy.h"
#include "reclaim/purge.h"
#include "sampling/sampling.h"
#include "sampling/sites.h"
#include "stats/stats.h"
#include "thread/thread.h"
#include "trap/trap.h"

#include <errno.h>
#include <string.h>

enum {
    MOVE_PAGES = 512,         /* longer blocks grow by moving page tables, not bytes: 32 MiB */
    ZERO_PAGES = 16,          /* for longer blocks fresh pages are cheaper than zeroing: 1 MiB */
    APART_IN_GUARD = 1 << 30, /* for larger ones guard builds first ask whether there is room */
    STAYS_APART = 32 << 20,   /* a block apart that shrinks to less is copied into a range */
    TRIM_SHARE = 8,           /* a shrunk block keeps its pages unless 1/8 of them become free */
    LOOK_EVERY = 64, /* blocks that come and go by a cache between two looks at the clock */
    SLACK_SHARE = 4  /* a block that had to move gets 1/4 more address space, not memory */
};

static size_t pages_for(size_t size) {
    return (size + HAK_PAGE_SIZE - 1) >> HAK_PAGE_SHIFT;
}

static size_t bytes_in(const hak_slab *run) {
    return (size_t)run->pages << HAK_PAGE_SHIFT;
}

/* A large block may be used up to the end of the system page that its last byte lies in; the rest
 * of its run is address space, for growing in place. */
static size_t usable(const hak_slab *run) {
    return hak_round_up(run->large_size, hak_os_page_size());
}

static bool is_large(const hak_slab *run) {
    return run->kind == HAK_RUN_LARGE || run->kind == HAK_RUN_SAMPLED;
}

/* Makes the run a large block. */
static inline void *begin(hak_slab *run, size_t size) {
    run->kind = HAK_RUN_LARGE;
    run->large_size = size;
    return (void *)run->start;
}

/* ---- the heap, and the clock ---- */

/* Returns the heap of this thread, marked as busy; NULL if it has none. */
static hak_heap *enter(void) {
    hak_heap *heap = hak_heap_self();
    if (HAK_LIKELY(heap != NULL))
        hak_owner_enters(heap);
    return heap;
}

static void leave(hak_heap *heap) {
    if (HAK_LIKELY(heap != NULL))
        hak_owner_leaves(heap);
}

static void tick(hak_heap *heap) {
    if (heap != NULL)
        hak_purge_tick(heap, HAK_CLASS_NONE);
}

static void tick_by_owner(void) {
    hak_heap *heap = enter();
    tick(heap);
    leave(heap);
}

/* If the clock has not moved since the last look, twice as many blocks pass before the next one. A
 * thread that comes rarely always finds a new time, and so looks at each block. */
void hak_large_look(hak_heap *heap) {
    uint64_t seen = hak_seen_at_ms(heap);
    if (HAK_UNLIKELY(hak_sampling_ever()))
        hak_sampling_adopt(heap);
    hak_purge_tick(heap, HAK_CLASS_NONE);
    bool same = hak_seen_at_ms(heap) == seen && hak_purge_is_pending();
    unsigned every = same ? 2 * heap->look_every + 1U : 0;
    heap->look_every = heap->looks_left = (uint8_t)(every < LOOK_EVERY ? every : LOOK_EVERY - 1);
    hak_owner_leaves(heap);
}

static bool is_huge(size_t pages) {
    return pages >= HAK_HUGE_PAGES;
}

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
    run->touched = 0;
    return run;
}

static hak_slab *take_at_home(size_t pages, size_t align_pages, bool *zeroed) {
    hak_heap *heap = hak_heap_self();
    hak_slab *run = hak_run_take(home_of(heap), pages, align_pages, zeroed);
    if (run != NULL && heap != NULL)
        heap->large_range = hak_range_of((void *)run->start);
    return run;
}

static hak_slab *try_to_take(size_t pages, size_t align_pages, bool *zeroed) {
    return is_huge(pages) ? take_huge(pages, align_pages, zeroed)
                          : take_at_home(pages, align_pages, zeroed);
}

/* Gives back what lies free in magazines and slabs, and tries again. A request that is longer than
 * all of the address space in use gains nothing by it. */
static HAK_COLD hak_slab *take_after_purge(size_t pages, size_t align_pages, bool *zeroed) {
    hak_slab *run = NULL;
    if (pages <= hak_range_pages()) {
        hak_heap_purge_all();
        run = try_to_take(pages, align_pages, zeroed);
    }
    if (run == NULL)
        hak_count_refusal(pages << HAK_PAGE_SHIFT);
    return run;
}

static hak_slab *take(size_t pages, size_t align_pages, bool *zeroed) {
    hak_slab *run = try_to_take(pages, align_pages, zeroed);
    return HAK_LIKELY(run != NULL) ? run : take_after_purge(pages, align_pages, zeroed);
}

/* Gives the memory of a run to the system at once. False: some of it is still there. */
static bool purge(const hak_slab *run) {
    return hak_policy_may_purge_now() && hak_os_purge((void *)run->start, bytes_in(run));
}

static void give_pages(hak_slab *run, bool zeroed) {
    hak_run_give(run, zeroed);
    hak_purge_expect();
}

/* Returns the count of faults when the life of the block began. Pages that were dirty already count
 * as faults of its life, so the beginning lies earlier by their number. */
static uint64_t faults_of(const hak_slab *run) {
    return run->faults - hak_excess_faults_of(run->touched);
}

static void give_huge(hak_slab *run, bool zeroed) {
    uint64_t faults = faults_of(run); /* read first: once given, the run may be somebody else's */
    enum hak_freed how = hak_excess_huge(run->pages, faults);
    if (how == HAK_FREED_SPARSE) {
        hak_spare_give(run, zeroed);
        hak_purge_expect_spare(faults);
    } else {
        give_pages(run, zeroed || (how == HAK_FREED_RARELY && purge(run)));
    }
}

/* Called by the owner of the heap, or with no heap at all. */
static void give(hak_heap *heap, hak_slab *run, bool zeroed) {
    if (!zeroed && heap != NULL && hak_run_cache_push(heap, run))
        return;
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

static void *out_of_memory(size_t size) {
    hak_count_refusal(size);
    return NULL;
}

/* Guard builds keep such blocks in ranges, with tables for all their pages. So they first ask the
 * system whether it has that much, before they make tables for nothing. */
static bool is_beyond(size_t size, size_t align) {
    if (!HAK_GUARD || (size | align) < APART_IN_GUARD)
        return false;
    void *all = hak_os_map(hak_round_up(size + align, hak_os_page_size()), 1);
    if (all != NULL)
        hak_os_unmap(all, hak_round_up(size + align, hak_os_page_size()));
    return all == NULL;
}

static void *allocate_apart(size_t size, size_t align) {
    void *block = hak_apart_take(size, align);
    return block != NULL ? block : out_of_memory(size);
}

/* The run still has the contents of its last block. NULL: none fits, and the cache is empty now. */
static hak_slab *take_cached(size_t pages) {
    hak_heap *heap = enter();
    hak_slab *run = heap != NULL ? hak_run_cache_find(heap, pages) : NULL;
    leave(heap);
    return run;
}

static void *allocate(size_t size, size_t align, bool zero) {
    if (size > PTRDIFF_MAX)
        return out_of_memory(size);
    if (hak_apart_wants(size, align))
        return allocate_apart(size, align);
    bool zeroed = false;
    size_t pages = pages_for(size);
    size_t align_pages = align > HAK_PAGE_SIZE ? align >> HAK_PAGE_SHIFT : 1;
    hak_slab *run = take_cached(align_pages == 1 ? pages : 0);
    if (run == NULL)
        run = is_beyond(size, align) ? out_of_memory(size) : take(pages, align_pages, &zeroed);
    if (run == NULL)
        return NULL;
    begin(run, size);
    if (zero && !zeroed)
        make_zero(run, size);
    tick_by_owner();
    return (void *)run->start;
}

/* ---- samples ---- */

/* The block is a sample, or goes on being one with another size. */
static HAK_COLD void note_sample(void *block, size_t size) {
    hak_stack stack;
    hak_slab *run = hak_run_of(block);
    stack.depth = hak_os_stack(stack.frames, HAK_STACK_MOST);
    if (run != NULL)
        run->kind = HAK_RUN_SAMPLED;
    hak_sites_begin(block, size, &stack);
}

/* Of a block apart, there is no run: whether it is a sample the sites know. */
static void end_sample(hak_slab *run, const void *block) {
    if (run != NULL && run->kind != HAK_RUN_SAMPLED)
        return;
    hak_sites_end(block);
    if (run != NULL)
        run->kind = HAK_RUN_LARGE;
}

static HAK_COLD bool sample_is_due(size_t bytes) {
    hak_heap *heap = enter();
    bool due = heap != NULL && hak_sampling_adopt(heap) && hak_sampling_is_due(heap, bytes);
    leave(heap);
    return due;
}

static HAK_COLD void *allocate_counted(size_t size, size_t align, bool zero) {
    bool due = sample_is_due(size);
    void *block = allocate(size, align, zero);
    if (due && block != NULL)
        note_sample(block, size);
    return block;
}

void *hak_large_sample(size_t size) {
    void *block = allocate(size, 1, false);
    if (block != NULL)
        note_sample(block, size);
    return block;
}

void *hak_large_allocate(size_t size, size_t align, bool zero) {
    if (HAK_UNLIKELY(hak_sampling_ever()))
        return allocate_counted(size, align, zero);
    return allocate(size, align, zero);
}

/* Calls stand at the end alone (tail calls), so the compiler saves no registers. */
void *hak_large_malloc(size_t size) {
    size_t pages = ((size - 1) >> HAK_PAGE_SHIFT) + 1;
    hak_heap *heap = hak_this_thread.owned;
    if (HAK_LIKELY(pages <= HAK_CACHED_PAGES && heap != NULL && hak_owner_tries(heap))) {
        hak_slab *run = hak_run_cache_take(heap, pages);
        hak_owner_leaves(heap);
        if (HAK_LIKELY(run != NULL))
            return begin(run, size);
    }
    HAK_NOT_A_CONDITIONAL_TAIL_CALL();
    return hak_large_allocate(size, 1, false);
}

/* ---- finding a block ---- */

/* The large run that covers page `page` of r, for the error message; NULL when none does. */
static const hak_slab *covering_run(const hak_range *r, size_t page) {
    for (size_t back = page + 1; back-- > 0;) {
        const hak_slab *run = &r->slabs[back];
        if (run->kind != HAK_RUN_FREE)
            return is_large(run) && back + run->pages > page ? run : NULL;
    }
    return NULL;
}

static const char inside[] = "inside a large block, not its start";
static const char freed[] = "its pages are free already";

static _Noreturn HAK_COLD void refuse_outside(const void *p, const char *function) {
    enum hak_apart_place place = hak_apart_place_of(p);
    if (place == HAK_APART_INSIDE)
        hak_fatal("invalid pointer", function, p, inside);
    if (place == HAK_APART_FREED)
        hak_fatal("double free", function, p, freed);
    hak_fatal("invalid pointer", function, p, "no allocation of this process returned it");
}

static _Noreturn HAK_COLD void refuse_pointer(const void *p, const char *function) {
    const hak_range *r = hak_range_of(p);
    if (r == NULL)
        refuse_outside(p, function);
    const hak_slab *run = &r->slabs[hak_page_index(r, p)];
    if (run->kind == HAK_RUN_SLAB || run->kind == HAK_RUN_SLAB_TAIL)
        hak_fatal("heap corruption", function, p, "class map and slab table disagree");
    if (covering_run(r, hak_page_index(r, p)) != NULL)
        hak_fatal("invalid pointer", function, p, inside);
    hak_fatal("double free", function, p, freed);
}

/* Returns NULL for an address outside of all ranges. */
static hak_slab *find(const void *block, const char *function) {
    hak_slab *run = hak_run_of(block);
    if (run == NULL)
        return NULL;
    if (!is_large(run) || run->start != (uintptr_t)block)
        refuse_pointer(block, function);
    return run;
}

/* Blocks outside of all ranges: those of the sampled guard, and those apart. */
static size_t size_apart(const void *block, const char *function) {
    size_t size;
    if (hak_trap_size(block, function, &size))
        return size;
    size = hak_apart_size(block);
    if (size == 0)
        refuse_outside(block, function);
    return size;
}

static void give_apart(void *block, const char *function) {
    if (!hak_trap_give(block) && !hak_apart_give(block))
        refuse_outside(block, function);
}

size_t hak_large_size(const void *block, const char *function) {
    const hak_slab *run = find(block, function);
    return run != NULL ? usable(run) : size_apart(block, function);
}

void hak_large_free(hak_heap *heap, void *block) {
    hak_slab *run = find(block, "free");
    if (HAK_UNLIKELY(hak_sampling_ever()))
        end_sample(run, block);
    if (run != NULL) {
        give(heap, run, false);
        tick(heap);
    } else {
        give_apart(block, "free");
    }
}

/* ---- another size ---- */

static hak_slab *take_with_slack(size_t pages) {
    bool zeroed;
    hak_slab *run = try_to_take(pages + pages / SLACK_SHARE, 1, &zeroed);
    return run != NULL ? run : take(pages, 1, &zeroed);
}

static void *allocate_to_grow(size_t size) {
    if (hak_apart_wants(size, 1))
        return allocate_apart(size, 1);
    hak_slab *run = take_with_slack(pages_for(size));
    return run != NULL ? begin(run, size) : NULL;
}

/* Copies what the program may use alone: the run may be several times as long. */
static void *copy(const hak_slab *from, size_t size) {
    void *to = allocate_to_grow(size);
    if (to != NULL)
        memcpy(to, (void *)from->start, usable(from) < size ? usable(from) : size);
    return to;
}

static void *move(hak_slab *from, size_t size) {
    void *apart = from->pages >= MOVE_PAGES ? hak_apart_take_over(from, size) : NULL;
    void *to = apart != NULL ? apart : copy(from, size);
    if (to == NULL)
        return NULL;
    HAK_COUNT(blocks_moved, apart != NULL);
    hak_heap *heap = enter();
    give(heap, from, apart != NULL);
    tick(heap);
    leave(heap);
    return to;
}

/* A block that grows into a huge one counts as touched in all of its old pages. */
static bool extend(hak_slab *run, size_t pages) {
    uint32_t before = run->pages;
    bool done = hak_run_extend(run, pages);
    if (done && is_huge(pages) && !is_huge(before)) {
        run->faults = hak_excess_faults();
        run->touched = before + run->touched;
    }
    return done;
}

/* The pages behind the block may wait in a run cache or as a spare run: those go back first. */
static bool make_room(void) {
    hak_heap *heap = enter();
    bool any = heap != NULL && hak_run_cache_empty(heap, false);
    leave(heap);
    return hak_spare_release() || any;
}

static bool grow_in_place(hak_slab *run, size_t pages) {
    return pages <= run->pages || extend(run, pages) || (make_room() && extend(run, pages));
}

/* A block apart that becomes small is copied; so is one whose mapping the program has cut. */
static void *resize_apart(void *block, size_t size) {
    size_t before = size_apart(block, "realloc");
    void *resized = size >= STAYS_APART ? hak_apart_resize(block, size) : NULL;
    if (resized != NULL)
        return resized;
    void *copy = hak_large_allocate(size, 1, false);
    if (copy == NULL)
        return size <= before ? block : NULL;
    memcpy(copy, block, before < size ? before : size);
    give_apart(block, "realloc");
    return copy;
}

static void *resize(void *block, size_t size) {
    hak_slab *run = find(block, "realloc");
    if (run == NULL)
        return resize_apart(block, size);
    if (hak_apart_wants(size, 1))
        return move(run, size);
    size_t pages = pages_for(size);
    if (!grow_in_place(run, pages))
        return move(run, size);
    run->large_size = size;
    if (pages < run->pages - run->pages / TRIM_SHARE) {
        hak_run_trim(run, pages);
        hak_purge_expect();
        tick_by_owner();
    }
    return block;
}

/* While blocks are sampled none is widened: it would be counted with the bytes that it had. */
HAK_COLD size_t hak_large_widen(void *block, size_t size) {
    const char *function = "hak_resize_in_place";
    hak_slab *run = find(block, function);
    if (run == NULL)
        return size_apart(block, function);
    bool may = size > usable(run) && size <= PTRDIFF_MAX && !hak_apart_wants(size, 1);
    if (may && !hak_sampling_ever() && grow_in_place(run, pages_for(size)))
        run->large_size = size;
    return usable(run);
}

/* A block of n bytes that grows to m has been a sample with the chance of n, and gets that of the
 * m - n that come: together the chance of m. */
static HAK_COLD void *resize_counted(void *block, size_t size) {
    size_t before = hak_large_size(block, "realloc");
    bool was_sample = hak_sites_end(block);
    bool due = size > before && sample_is_due(size - before);
    void *resized = resize(block, size);
    if (was_sample || (due && resized != NULL))
        note_sample(resized != NULL ? resized : block, resized != NULL ? size : before);
    return resized;
}

void *hak_large_resize(void *block, size_t size) {
    if (HAK_UNLIKELY(hak_sampling_ever()))
        return resize_counted(block, size);
    return resize(block, size);
}
