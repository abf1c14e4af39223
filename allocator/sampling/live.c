#include "sampling/live.h"

#include "os/secret.h"

#include <string.h>

static size_t place_of(uintptr_t turned) {
    return hak_mixed(turned) % HAK_LIVE_PLACES;
}

static size_t behind(size_t place) {
    return (place + 1) % HAK_LIVE_PLACES;
}

static size_t distance(size_t from, size_t to) {
    return (to - from) % HAK_LIVE_PLACES;
}

size_t hak_live_find(hak_live_table *table, const void *block) {
    uintptr_t turned = ~(uintptr_t)block;
    size_t at = place_of(turned);
    for (const hak_live *there; (there = hak_live_at(table, at)) != NULL; at = behind(at))
        if (there->turned == turned)
            break;
    return at;
}

/* The number of an entry that is free; 0: there is none. */
static uint16_t new_number(hak_live_table *table) {
    uint16_t number = table->left;
    if (number != 0)
        table->left = table->entries[number - 1].next;
    else if (table->used < HAK_LIVE_MOST)
        number = (uint16_t)++table->used;
    return number;
}

bool hak_live_add(hak_live_table *table, const void *block, size_t size, uint32_t site) {
    size_t at = hak_live_find(table, block);
    if (table->places[at] == 0) {
        table->places[at] = new_number(table);
        table->count += table->places[at] != 0;
    }
    hak_live *sample = hak_live_at(table, at);
    if (sample != NULL)
        *sample = (hak_live){~(uintptr_t)block, size, (uint16_t)site, 0};
    return sample != NULL;
}

/* What stands behind a gap moves into it, unless its own place lies behind the gap. Source: Knuth,
 * The Art of Computer Programming 3, section 6.4, algorithm R. */
static void close_gap(hak_live_table *table, size_t gap) {
    const hak_live *there;
    for (size_t at = behind(gap); (there = hak_live_at(table, at)) != NULL; at = behind(at))
        if (distance(place_of(there->turned), at) >= distance(gap, at)) {
            table->places[gap] = table->places[at];
            gap = at;
        }
    table->places[gap] = 0;
}

void hak_live_take_out(hak_live_table *table, size_t place) {
    hak_live_at(table, place)->next = table->left;
    table->left = table->places[place];
    close_gap(table, place);
    table->count--;
}

void hak_live_forget_all(hak_live_table *table) {
    memset(table->places, 0, sizeof table->places);
    table->count = table->used = table->left = 0;
}
