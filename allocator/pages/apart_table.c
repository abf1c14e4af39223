#include "pages/apart_table.h"

#include "base/bits.h"
#include "os/os.h"

enum { TABLES = 16, FIRST_LENGTH = 64 };

static hak_apart_entry first_table[FIRST_LENGTH];
static _Atomic(hak_apart_entry *) tables[TABLES] = {first_table};

size_t hak_apart_table_length(unsigned table) {
    return (size_t)FIRST_LENGTH << table;
}

hak_apart_entry *hak_apart_table(unsigned table) {
    return table < TABLES ? atomic_load_explicit(&tables[table], memory_order_acquire) : NULL;
}

/* The first entry whose start is this one, but for the bits that are not in `mask`. */
static hak_apart_entry *find(uintptr_t start, uintptr_t mask) {
    HAK_EACH_APART(e) {
        if ((hak_apart_start(e) & mask) == start)
            return e;
    }
    return NULL;
}

/* No block begins at an odd address, although the marked start of an entry looks like one. */
hak_apart_entry *hak_apart_find(const void *block) {
    return hak_apart_is_live((uintptr_t)block) ? find((uintptr_t)block, UINTPTR_MAX) : NULL;
}

/* Another thread may be quicker. */
static bool add_table(void) {
    unsigned table = 0;
    while (hak_apart_table(table) != NULL)
        table++;
    size_t size = hak_apart_table_length(table) * sizeof(hak_apart_entry);
    size = hak_round_up(size, hak_os_page_size());
    hak_apart_entry *made = table < TABLES ? hak_os_map(size, 1) : NULL, *none = NULL;
    if (made != NULL && !atomic_compare_exchange_strong(&tables[table], &none, made))
        hak_os_unmap(made, size);
    return made != NULL;
}

/* One that was never used, else that of a freed block. */
static hak_apart_entry *find_unused(void) {
    hak_apart_entry *e = find(0, UINTPTR_MAX);
    return e != NULL ? e : find(HAK_APART_GONE, HAK_APART_BUSY);
}

hak_apart_entry *hak_apart_claim(void) {
    do {
        for (hak_apart_entry *e; (e = find_unused()) != NULL;) {
            uintptr_t before = hak_apart_start(e);
            if (!hak_apart_is_live(before) && before != HAK_APART_BUSY &&
                hak_apart_exchange(e, before, HAK_APART_BUSY))
                return e;
        }
    } while (add_table());
    return NULL;
}
