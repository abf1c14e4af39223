/* Which samples live: a hash table of a fixed size, from a block to its site.
 *
 *   places    |  2  |     |  1  |  3  |     | ...      by the block's address: an entry's number,
 *                                                      from 1, or 0
 *   entries   | block, size, site | block ... |        filled from the left; those that are left
 *                                                      again are a list
 *
 * Zeroed memory is an empty one. All functions are for the holder of the lock of sites.c. */
#pragma once

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HAK_LIVE_MOST = 49152, HAK_LIVE_PLACES = 65536 };

typedef struct hak_live {
    uintptr_t turned; /* the block's address: who looks for leaks (leaks/reach.c) would take it
                       * for a pointer, so all of its bits are turned */
    size_t size;
    uint16_t site; /* from 0 */
    uint16_t next; /* of an entry that was left: the number of the next such one */
} hak_live;

typedef struct hak_live_table {
    hak_live entries[HAK_LIVE_MOST];
    uint16_t places[HAK_LIVE_PLACES];
    uint32_t count, used; /* samples that live; entries that were ever in use */
    uint16_t left;        /* the number of the entry that was left last; 0: none */
} hak_live_table;

HAK_INLINE const void *hak_live_block(const hak_live *sample) {
    return (const void *)~sample->turned;
}

/* The sample at a place; NULL: there is none. */
HAK_INLINE hak_live *hak_live_at(hak_live_table *table, size_t place) {
    unsigned number = table->places[place];
    return number != 0 ? &table->entries[number - 1] : NULL;
}

/* Where the block stands, or the empty place where it would. */
size_t hak_live_find(hak_live_table *table, const void *block);

/* A block that stands there already gets another size and site. False: there is no room. */
bool hak_live_add(hak_live_table *table, const void *block, size_t size, uint32_t site);

/* Takes out the sample at this place. Another one may move there. */
void hak_live_take_out(hak_live_table *table, size_t place);

void hak_live_forget_all(hak_live_table *table);
