/* Where blocks apart (pages/apart.h) are noted:
 *
 *   tables[0]   | start, size | start, size | ...   64 entries of the library's own data
 *   tables[1]   | start, size | ...                 128, mapped when all of them are in use,
 *   ...                                             and so on, each twice as long
 *
 * There are few, and the system takes longer for each than a look at all entries. Nobody waits: an
 * entry is taken and left by one atomic exchange of its start. So whenever another thread forks,
 * the child's tables are sound. The entry of a freed block keeps its start, marked, until another
 * block takes it: a second free is told from a free of what never was a block. Any thread. */
#pragma once

#include "base/attributes.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hak_apart_entry {
    _Atomic uintptr_t start; /* 0: never used */
    _Atomic size_t size;
} hak_apart_entry;

/* In `start`: the block was freed; or a thread is about to note one here. */
#define HAK_APART_GONE ((uintptr_t)1)
#define HAK_APART_BUSY ((uintptr_t)3)

HAK_INLINE uintptr_t hak_apart_start(const hak_apart_entry *e) {
    return atomic_load_explicit(&e->start, memory_order_acquire);
}

HAK_INLINE size_t hak_apart_bytes(const hak_apart_entry *e) {
    return atomic_load_explicit(&e->size, memory_order_relaxed);
}

HAK_INLINE bool hak_apart_is_live(uintptr_t start) {
    return start != 0 && (start & HAK_APART_BUSY) == 0;
}

/* False: another thread was quicker. */
HAK_INLINE bool hak_apart_exchange(hak_apart_entry *e, uintptr_t from, uintptr_t to) {
    return atomic_compare_exchange_strong_explicit(&e->start, &from, to, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

HAK_INLINE void *hak_apart_note(hak_apart_entry *e, void *block, size_t size) {
    atomic_store_explicit(&e->size, size, memory_order_relaxed);
    atomic_store_explicit(&e->start, (uintptr_t)block, memory_order_release);
    return block;
}

/* That of a live block; NULL: no block begins here. */
hak_apart_entry *hak_apart_find(const void *block);

/* A busy one, never used before or that of a freed block. NULL: out of memory. */
hak_apart_entry *hak_apart_claim(void);

/* Table after table, from the first one on; NULL: there are no more. The macro goes over all
 * entries. */
hak_apart_entry *hak_apart_table(unsigned table);
size_t hak_apart_table_length(unsigned table);
#define HAK_EACH_APART(e)                                                                          \
    for (unsigned table = 0; hak_apart_table(table) != NULL; table++)                              \
        for (hak_apart_entry *e = hak_apart_table(table);                                          \
             e < hak_apart_table(table) + hak_apart_table_length(table); e++)
