#include "pages/apart_table.h"

#include "base/bits.h"
#include "os/os.h"

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

enum { TABLES = 6, FIRST_BITS = 6, MORE_BITS = 3, NEAR = 8 };
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
    uint64_t hash = ((uint64_t)wanted >> HAK_APART_BITS) * UINT64_C(0x9E3779B97F4A7C15);
    size_t from = (size_t)(hash >> (64 - bits_of(table))), mask = length_of(table) - 1;
    for (size_t i = 0; i < most; i++) {
        entry *e = &entries[(from + i) & mask];
        if (fits(atomic_load_explicit(&e->start, memory_order_relaxed), wanted))
            return e;
    }
    return NULL;
}

/* First near the places where it should be. */
static entry *find_entry(uintptr_t wanted, test *fits) {
    entry *found = NULL;
    for (unsigned i = 0; found == NULL && table_at(i) != NULL; i++)
        found = find_in(i, wanted, NEAR, fits);
    for (unsigned i = 0; found == NULL && table_at(i) != NULL; i++)
        found = find_in(i, wanted, length_of(i), fits);
    return found;
}

/* ---- room for one more ---- */

static size_t entries_size(unsigned table) {
    return hak_round_up(length_of(table) * sizeof(entry), hak_os_page_size());
}

/* Another thread may be quicker. */
static bool add_table(unsigned table) {
    if (table == TABLES)
        return false;
    entry *made = hak_os_map(entries_size(table), 1), *none = NULL;
    if (made == NULL)
        return false;
    if (!atomic_compare_exchange_strong_explicit(&tables[table], &none, made, memory_order_acq_rel,
                                                 memory_order_relaxed))
        hak_os_unmap(made, entries_size(table));
    return true;
}

bool hak_apart_expect_one(void) {
    size_t count = atomic_fetch_add_explicit(&taken, 1, memory_order_relaxed) + 1, room = 0;
    unsigned table = 0;
    for (; table_at(table) != NULL; table++)
        room += length_of(table);
    if (count <= room - room / 4 || add_table(table))
        return true;
    atomic_fetch_sub_explicit(&taken, 1, memory_order_relaxed);
    return false;
}

void hak_apart_expect_one_less(void) {
    atomic_fetch_sub_explicit(&taken, 1, memory_order_relaxed);
}

size_t hak_apart_expected(void) {
    return atomic_load_explicit(&taken, memory_order_relaxed);
}

/* ---- entries of blocks ---- */

/* Who looks for a block has been given its address after it was noted, so it finds its size. */
void hak_apart_note(void *block, size_t size) {
    uintptr_t start = (uintptr_t)block;
    for (;;) {
        entry *e = find_entry(start, is_free);
        uintptr_t before = e != NULL ? atomic_load_explicit(&e->start, memory_order_relaxed) : 1;
        if (e != NULL && is_free(before, start) &&
            atomic_compare_exchange_strong_explicit(&e->start, &before, start, memory_order_acq_rel,
                                                    memory_order_relaxed)) {
            atomic_store_explicit(&e->size, size, memory_order_relaxed);
            return;
        }
    }
}

size_t hak_apart_forget(const void *block) {
    uintptr_t start = (uintptr_t)block;
    entry *e = find_entry(start, is_same);
    if (e == NULL)
        return 0;
    size_t size = atomic_load_explicit(&e->size, memory_order_relaxed);
    bool done = atomic_compare_exchange_strong_explicit(&e->start, &start, start | GONE,
                                                        memory_order_acq_rel, memory_order_relaxed);
    return done ? size : 0;
}

size_t hak_apart_size(const void *block) {
    const entry *e = find_entry((uintptr_t)block, is_same);
    return e != NULL ? atomic_load_explicit(&e->size, memory_order_relaxed) : 0;
}

/* ---- all of them ---- */

/* Entry `i` of all tables; NULL behind the last one. */
static const entry *entry_at(size_t i) {
    unsigned table = 0;
    for (; table_at(table) != NULL && i >= length_of(table); table++)
        i -= length_of(table);
    return table_at(table) != NULL ? &table_at(table)[i] : NULL;
}

static uintptr_t start_of(const entry *e) {
    return atomic_load_explicit(&e->start, memory_order_relaxed);
}

static size_t size_of(const entry *e) {
    return atomic_load_explicit(&e->size, memory_order_relaxed);
}

enum hak_apart_place hak_apart_place_of(const void *p) {
    enum hak_apart_place place = HAK_APART_NOWHERE;
    const entry *e;
    for (size_t i = 0; (e = entry_at(i)) != NULL; i++) {
        uintptr_t start = start_of(e);
        if ((uintptr_t)p - (start & ~GONE) < size_of(e))
            place = (start & GONE) == 0 ? HAK_APART_INSIDE : HAK_APART_FREED;
        if (place == HAK_APART_INSIDE)
            break;
    }
    return place;
}

void hak_apart_each(void (*visit)(const void *block, size_t size)) {
    const entry *e;
    for (size_t i = 0; (e = entry_at(i)) != NULL; i++) {
        uintptr_t start = start_of(e);
        if (!is_free(start, 0))
            visit((const void *)start, size_of(e));
    }
}

size_t hak_apart_count(size_t *bytes) {
    size_t count = 0;
    const entry *e;
    *bytes = 0;
    for (size_t i = 0; (e = entry_at(i)) != NULL; i++) {
        bool live = !is_free(start_of(e), 0);
        *bytes += live ? size_of(e) : 0;
        count += live;
    }
    return count;
}
