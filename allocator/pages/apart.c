#include "pages/apart.h"

#include "base/bits.h"
#include "os/os.h"
#include "pages/press.h"
#include "policy/policy.h"

/* Where the blocks are noted, by their starts:
 *
 *   tables[0]   | start, size | start, size | ...   64 entries of the library's own data
 *   tables[1]   | start, size | ...                 512, mapped when three of four are in use,
 *   ...                                             and so on, each eight times as long
 *
 * An entry lies near the place that the hash of its start names, in any of the tables, or where
 * those are taken, anywhere. Nobody waits: an entry is taken and left by one atomic exchange of its
 * start. So whenever another thread forks, the child's tables are sound. The entry of a freed block
 * keeps its start, marked, until another block takes it: a second free is told from a free of what
 * never was a block. */
typedef struct entry {
    _Atomic uintptr_t start; /* 0: never used */
    _Atomic size_t size;
} entry;

enum {
    SLACK_SHARE = 4,
    MOST_MOVED = 8192 /* by default the system allows 65,530 mappings */
};
enum { TABLES = 6, FIRST_BITS = 6, MORE_BITS = 3, NEAR = 8, GIB_BITS = 30 };
static const uintptr_t GONE = 1; /* in `start`: the block was freed, the entry is free */

static entry first_table[1 << FIRST_BITS];
static _Atomic(entry *) tables[TABLES] = {first_table};
static _Atomic size_t taken; /* entries, about */

static unsigned bits_of(unsigned table) {
    return FIRST_BITS + table * MORE_BITS;
}

static size_t length_of(unsigned table) {
    return (size_t)1 << bits_of(table);
}

static entry *table_at(unsigned table) {
    return table < TABLES ? atomic_load_explicit(&tables[table], memory_order_acquire) : NULL;
}

/* ---- finding an entry ---- */

typedef bool test(uintptr_t noted, uintptr_t wanted);

static bool is_free(uintptr_t noted, uintptr_t wanted) {
    (void)wanted;
    return noted == 0 || (noted & GONE) != 0;
}

static bool is_same(uintptr_t noted, uintptr_t wanted) {
    return noted == wanted;
}

static entry *find_in(unsigned table, uintptr_t wanted, size_t most, test *fits) {
    entry *entries = table_at(table);
    uint64_t hash = ((uint64_t)wanted >> GIB_BITS) * UINT64_C(0x9E3779B97F4A7C15);
    size_t from = (size_t)(hash >> (64 - bits_of(table))), mask = length_of(table) - 1;
    for (size_t i = 0; i < most; i++) {
        entry *e = &entries[(from + i) & mask];
        if (fits(atomic_load_explicit(&e->start, memory_order_relaxed), wanted))
            return e;
    }
    return NULL;
}

/* First near the places where it should be. */
static entry *find(uintptr_t wanted, test *fits) {
    entry *found = NULL;
    for (unsigned i = 0; found == NULL && table_at(i) != NULL; i++)
        found = find_in(i, wanted, NEAR, fits);
    for (unsigned i = 0; found == NULL && table_at(i) != NULL; i++)
        found = find_in(i, wanted, length_of(i), fits);
    return found;
}

/* ---- room for one more ---- */

static size_t table_size(unsigned table) {
    return hak_round_up(length_of(table) * sizeof(entry), hak_os_page_size());
}

/* Another thread may be quicker. */
static bool add_table(unsigned table) {
    if (table == TABLES)
        return false;
    entry *made = hak_os_map(table_size(table), 1), *none = NULL;
    if (made == NULL)
        return false;
    if (!atomic_compare_exchange_strong_explicit(&tables[table], &none, made, memory_order_acq_rel,
                                                 memory_order_relaxed))
        hak_os_unmap(made, table_size(table));
    return true;
}

/* True: an entry will be free for one more block, and the tables longer than all that are noted. */
static bool expect_one(void) {
    size_t count = atomic_fetch_add_explicit(&taken, 1, memory_order_relaxed) + 1, room = 0;
    unsigned table = 0;
    for (; table_at(table) != NULL; table++)
        room += length_of(table);
    if (count <= room - room / 4 || add_table(table))
        return true;
    atomic_fetch_sub_explicit(&taken, 1, memory_order_relaxed);
    return false;
}

static void expect_one_less(void) {
    atomic_fetch_sub_explicit(&taken, 1, memory_order_relaxed);
}

/* ---- entries of blocks ---- */

/* Who looks for a block has been given its address after it was noted, so it finds its size. */
static void note(void *block, size_t size) {
    uintptr_t start = (uintptr_t)block;
    for (;;) {
        entry *e = find(start, is_free);
        uintptr_t before = e != NULL ? atomic_load_explicit(&e->start, memory_order_relaxed) : 1;
        if (e != NULL && is_free(before, start) &&
            atomic_compare_exchange_strong_explicit(&e->start, &before, start, memory_order_acq_rel,
                                                    memory_order_relaxed)) {
            atomic_store_explicit(&e->size, size, memory_order_relaxed);
            return;
        }
    }
}

/* Its size; 0: it is not there, or another thread was quicker. */
static size_t forget(const void *block) {
    uintptr_t start = (uintptr_t)block;
    entry *e = find(start, is_same);
    if (e == NULL)
        return 0;
    size_t size = atomic_load_explicit(&e->size, memory_order_relaxed);
    bool done = atomic_compare_exchange_strong_explicit(&e->start, &start, start | GONE,
                                                        memory_order_acq_rel, memory_order_relaxed);
    return done ? size : 0;
}

static void *noted(void *block, size_t size) {
    if (block != NULL) {
        note(block, size);
    } else {
        expect_one_less();
        hak_quota_give_apart(size);
    }
    return block;
}

/* Whether so many bytes more may be had. */
static bool is_granted(size_t size) {
    hak_press_for(size >> HAK_PAGE_SHIFT);
    return hak_quota_take_apart(size);
}

/* An entry, and the bytes. */
static bool expect(size_t size) {
    if (!is_granted(size))
        return false;
    bool expected = expect_one();
    if (!expected)
        hak_quota_give_apart(size);
    return expected;
}

/* ---- the interface ---- */

bool hak_apart_wants(size_t size, size_t align) {
    return !HAK_GUARD && size + align >= (size_t)1 << GIB_BITS;
}

static size_t whole_pages(size_t size) {
    return hak_round_up(size, hak_os_page_size());
}

/* Whether so large a block is dense cannot be told from others: it is left as the system is set. */
static void *mapped(size_t size, size_t align) {
    void *block = hak_os_map(size, align);
    enum hak_huge_pages mode = (enum hak_huge_pages)hak_policy_now()->huge_pages;
    if (block != NULL)
        hak_os_huge_pages(block, size, mode == HAK_HUGE_DENSE ? HAK_HUGE_SYSTEM : mode);
    return block;
}

void *hak_apart_take(size_t size, size_t align) {
    size = whole_pages(size);
    return expect(size) ? noted(mapped(size, align), size) : NULL;
}

size_t hak_apart_size(const void *block) {
    const entry *e = find((uintptr_t)block, is_same);
    return e != NULL ? atomic_load_explicit(&e->size, memory_order_relaxed) : 0;
}

bool hak_apart_give(void *block) {
    size_t size = forget(block);
    if (size == 0)
        return false;
    hak_os_unmap(block, size);
    expect_one_less();
    hak_quota_give_apart(size);
    return true;
}

/* A block that grows will grow again: it gets a quarter more address space, if there is so much. */
static size_t generous(size_t size) {
    return whole_pages(size + size / SLACK_SHARE);
}

/* Its old place may be somebody else's as soon as it has moved: it is not noted meanwhile. */
static void *remap(void *block, size_t size) {
    if (!is_granted(size))
        return NULL;
    size_t before = forget(block);
    void *moved = before != 0 ? hak_os_remap(block, before, size) : NULL;
    if (before != 0)
        note(moved != NULL ? moved : block, moved != NULL ? size : before);
    hak_quota_give_apart(moved != NULL ? before : size);
    return moved;
}

void *hak_apart_resize(void *block, size_t size) {
    size_t before = hak_apart_size(block);
    if (size <= before && size >= before - before / SLACK_SHARE)
        return block;
    void *moved = size > before ? remap(block, generous(size)) : NULL;
    return moved != NULL ? moved : remap(block, whole_pages(size));
}

static void *move_out(const hak_slab *run, size_t size) {
    size_t length = (size_t)run->pages << HAK_PAGE_SHIFT;
    return expect(size) ? noted(hak_os_move_out((void *)run->start, length, size), size) : NULL;
}

/* Those that became too long for a range may use up the mappings that the system allows. */
void *hak_apart_take_over(const hak_slab *run, size_t size) {
    bool is_one_of_few = atomic_load_explicit(&taken, memory_order_relaxed) < MOST_MOVED;
    if (HAK_GUARD || !is_one_of_few)
        return NULL;
    void *block = move_out(run, generous(size));
    return block != NULL ? block : move_out(run, whole_pages(size));
}

/* ---- all of them ---- */

enum hak_apart_place hak_apart_place_of(const void *p) {
    enum hak_apart_place place = HAK_APART_NOWHERE;
    for (unsigned table = 0; table_at(table) != NULL; table++)
        for (size_t i = 0; i < length_of(table); i++) {
            const entry *e = &table_at(table)[i];
            uintptr_t start = atomic_load_explicit(&e->start, memory_order_relaxed);
            size_t size = atomic_load_explicit(&e->size, memory_order_relaxed);
            if ((uintptr_t)p - (start & ~GONE) >= size)
                continue;
            if ((start & GONE) == 0)
                return HAK_APART_INSIDE;
            place = HAK_APART_FREED;
        }
    return place;
}

size_t hak_apart_count(size_t *bytes) {
    size_t count = 0;
    *bytes = 0;
    for (unsigned table = 0; table_at(table) != NULL; table++)
        for (size_t i = 0; i < length_of(table); i++) {
            const entry *e = &table_at(table)[i];
            if (is_free(atomic_load_explicit(&e->start, memory_order_relaxed), 0))
                continue;
            *bytes += atomic_load_explicit(&e->size, memory_order_relaxed);
            count++;
        }
    return count;
}
