#include "pages/apart.h"

#include "base/bits.h"
#include "os/lock.h"
#include "os/os.h"
#include "pages/dirty.h"
#include "pages/quota.h"
#include "policy/policy.h"

/* Where the blocks are noted:
 *
 *   tables[0]   | start, size | start, size | ...   64 entries of the library's own data
 *   tables[1]   | start, size | ...                 128, mapped when all of them are in use,
 *   ...                                             and so on, each twice as long
 *
 * There are few, and the system takes longer for each than a look at all entries. Nobody waits: an
 * entry is taken and left by one atomic exchange of its start. So whenever another thread forks,
 * the child's tables are sound. The entry of a freed block keeps its start, marked, until another
 * block takes it: a second free is told from a free of what never was a block. */
typedef struct entry {
    _Atomic uintptr_t start; /* 0: never used */
    _Atomic size_t size;
} entry;

enum {
    TABLES = 16,
    FIRST_LENGTH = 64,
    MOST_MOVED = 8192 /* by default the system allows 65,530 mappings */
};
/* In `start`: the block was freed; or a thread is about to note one here. */
static const uintptr_t GONE = 1, BUSY = 3;

static entry first_table[FIRST_LENGTH];
static _Atomic(entry *) tables[TABLES] = {first_table};

static size_t length_of(unsigned table) {
    return (size_t)FIRST_LENGTH << table;
}

static entry *table_at(unsigned table) {
    return table < TABLES ? atomic_load_explicit(&tables[table], memory_order_acquire) : NULL;
}

static uintptr_t start_of(const entry *e) {
    return atomic_load_explicit(&e->start, memory_order_acquire);
}

static size_t size_of(const entry *e) {
    return atomic_load_explicit(&e->size, memory_order_relaxed);
}

static bool is_live(uintptr_t start) {
    return start != 0 && (start & BUSY) == 0;
}

#define EACH_ENTRY(e)                                                                              \
    for (unsigned table = 0; table_at(table) != NULL; table++)                                     \
        for (entry *e = table_at(table); e < table_at(table) + length_of(table); e++)

/* ---- taking and leaving an entry ---- */

/* The first entry whose start is this one, but for the bits that are not in `mask`. */
static entry *find(uintptr_t start, uintptr_t mask) {
    EACH_ENTRY(e) {
        if ((start_of(e) & mask) == start)
            return e;
    }
    return NULL;
}

/* No block begins at an odd address, although the marked start of an entry looks like one. */
static entry *find_block(const void *block) {
    return is_live((uintptr_t)block) ? find((uintptr_t)block, UINTPTR_MAX) : NULL;
}

static bool exchange(entry *e, uintptr_t from, uintptr_t to) {
    return atomic_compare_exchange_strong_explicit(&e->start, &from, to, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

/* Another thread may be quicker. */
static bool add_table(void) {
    unsigned table = 0;
    while (table_at(table) != NULL)
        table++;
    size_t size = hak_round_up(length_of(table) * sizeof(entry), hak_os_page_size());
    entry *made = table < TABLES ? hak_os_map(size, 1) : NULL, *none = NULL;
    if (made != NULL && !atomic_compare_exchange_strong(&tables[table], &none, made))
        hak_os_unmap(made, size);
    return made != NULL;
}

/* One that was never used, else that of a freed block. NULL: out of memory. */
static entry *claim(void) {
    do {
        for (entry *e; (e = find(0, UINTPTR_MAX)) != NULL || (e = find(GONE, BUSY)) != NULL;) {
            uintptr_t before = start_of(e);
            if (!is_live(before) && before != BUSY && exchange(e, before, BUSY))
                return e;
        }
    } while (add_table());
    return NULL;
}

static void *note(entry *e, void *block, size_t size) {
    atomic_store_explicit(&e->size, size, memory_order_relaxed);
    atomic_store_explicit(&e->start, (uintptr_t)block, memory_order_release);
    return block;
}

/* ---- what may be had ---- */

/* Whether a block may grow so. Of a new one, `from` is 0. */
static bool is_granted(size_t from, size_t to) {
    if (to > from)
        hak_dirty_make_room_for((to - from) >> HAK_PAGE_SHIFT);
    return hak_quota_resize_apart(from, to);
}

/* An entry for a new block. */
static entry *claim_for(size_t size) {
    if (!is_granted(0, size))
        return NULL;
    entry *e = claim();
    if (e == NULL)
        hak_quota_resize_apart(size, 0);
    return e;
}

/* Notes the new block; NULL: the system refused it. */
static void *begin(entry *e, void *block, size_t size) {
    if (block == NULL)
        hak_quota_resize_apart(size, 0);
    return note(e, block, block != NULL ? size : 0);
}

static size_t whole_pages(size_t size) {
    return hak_round_up(size, hak_os_page_size());
}

/* A block that grows will grow again: it gets a quarter more address space, if there is so much. */
static size_t generous(size_t size) {
    return whole_pages(size + size / HAK_SLACK_SHARE);
}

/* No other block tells whether so large a one will be dense: the system's own setting holds for
 * it. */
static void *mapped(size_t size, size_t align) {
    void *block = hak_os_map(size, align);
    enum hak_huge_pages mode = (enum hak_huge_pages)hak_policy_now()->huge_pages;
    if (block != NULL)
        hak_os_huge_pages(block, size, mode == HAK_HUGE_DENSE ? HAK_HUGE_SYSTEM : mode);
    return block;
}

/* ---- the interface: a handler of signals that forks within it finds that locks are held ---- */

bool hak_apart_wants(size_t size, size_t align) {
    return !HAK_GUARD && size + align >= (size_t)1 << HAK_APART_BITS;
}

void *hak_apart_take(size_t size, size_t align) {
    size = whole_pages(size);
    hak_lock_enter();
    entry *e = claim_for(size);
    void *block = e != NULL ? begin(e, mapped(size, align), size) : NULL;
    hak_lock_leave();
    return block;
}

size_t hak_apart_size(const void *block) {
    const entry *e = find_block(block);
    return e != NULL ? size_of(e) : 0;
}

bool hak_apart_give(void *block) {
    entry *e = find_block(block);
    size_t size = e != NULL ? size_of(e) : 0;
    hak_lock_enter();
    bool was_there = e != NULL && exchange(e, (uintptr_t)block, (uintptr_t)block | GONE);
    if (was_there) {
        hak_os_unmap(block, size);
        hak_quota_resize_apart(size, 0);
    }
    hak_lock_leave();
    return was_there;
}

/* While a block moves it is not noted: its old place may soon be somebody else's. One that shrinks
 * counts in full until it has shrunk, as the system may refuse that when others have taken the
 * rest. */
static void *remap(entry *e, void *block, size_t size) {
    size_t before = size_of(e), most = size > before ? size : before;
    if (!is_granted(before, most))
        return NULL;
    bool was_there = exchange(e, (uintptr_t)block, BUSY);
    void *moved = was_there ? hak_os_remap(block, before, size) : NULL;
    if (was_there)
        note(e, moved != NULL ? moved : block, moved != NULL ? size : before);
    hak_quota_resize_apart(most, moved != NULL ? size : before); /* no more: never refused */
    return moved;
}

void *hak_apart_resize(void *block, size_t size) {
    entry *e = find_block(block);
    size_t before = e != NULL ? size_of(e) : 0;
    if (e == NULL || (size <= before && size >= before - before / HAK_SLACK_SHARE))
        return e != NULL ? block : NULL;
    hak_lock_enter();
    void *moved = size > before ? remap(e, block, generous(size)) : NULL;
    if (moved == NULL)
        moved = remap(e, block, whole_pages(size));
    hak_lock_leave();
    return moved;
}

static void *move_out(const hak_slab *run, size_t size) {
    size_t length = (size_t)run->pages << HAK_PAGE_SHIFT;
    entry *e = claim_for(size);
    return e != NULL ? begin(e, hak_os_move_out((void *)run->start, length, size), size) : NULL;
}

/* Blocks that became too long for a range may use up the mappings that the system allows. */
void *hak_apart_take_over(const hak_slab *run, size_t size) {
    size_t bytes;
    if (HAK_GUARD || hak_apart_count(&bytes) >= MOST_MOVED)
        return NULL;
    hak_lock_enter();
    void *block = move_out(run, generous(size));
    if (block == NULL)
        block = move_out(run, whole_pages(size));
    hak_lock_leave();
    return block;
}

/* ---- all of them ---- */

enum hak_apart_place hak_apart_place_of(const void *p) {
    enum hak_apart_place place = HAK_APART_NOWHERE;
    EACH_ENTRY(e) {
        uintptr_t start = start_of(e);
        if (start == BUSY || (uintptr_t)p - (start & ~GONE) >= size_of(e))
            continue;
        if (is_live(start))
            return HAK_APART_INSIDE;
        place = HAK_APART_FREED;
    }
    return place;
}

void hak_apart_each(void (*visit)(const void *block, size_t size)) {
    EACH_ENTRY(e) {
        uintptr_t start = start_of(e);
        if (is_live(start))
            visit((const void *)start, size_of(e));
    }
}

size_t hak_apart_count(size_t *bytes) {
    size_t count = 0;
    *bytes = 0;
    EACH_ENTRY(e) {
        bool live = is_live(start_of(e));
        *bytes += live ? size_of(e) : 0;
        count += live;
    }
    return count;
}

void hak_apart_after_fork_in_child(void) {
    size_t bytes;
    hak_apart_count(&bytes);
    if (hak_locks_held == 0)
        hak_quota_set_apart(bytes);
}
