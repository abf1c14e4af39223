#include "leaks/roots.h"

#include "base/bits.h"
#include "leaks/reach.h"
#include "os/object.h"
#include "os/os.h"
#include "os/peek.h"
#include "pages/heap_room.h"
#include "pages/range.h"

typedef struct bounds {
    uintptr_t stack, own_from, own_to; /* own: variables of the library */
} bounds;

static bool is_between(uintptr_t address, uintptr_t from, uintptr_t to) {
    return address - from < to - from;
}

/* Tables, and what follows them: the pages of the range. */
static bool lies_in_range(uintptr_t page) {
    for (size_t i = 0; i < hak_range_count(); i++) {
        const hak_range *r = &hak_ranges[i];
        if (is_between(page, r->tables[0].start, r->base + r->segments_most * HAK_SEGMENT_SIZE))
            return true;
    }
    return false;
}

static bool is_no_root(const bounds *b, uintptr_t page) {
    const hak_suspects *all = &hak_suspected;
    return lies_in_range(page) || hak_heap_room_holds((const void *)page) ||
           page - (uintptr_t)all->all < all->mapped || is_between(page, b->own_from, b->own_to);
}

static void look_at_pages(uintptr_t from, uintptr_t to, void *context) {
    size_t page = hak_os_page_size();
    for (uintptr_t at = from; at < to; at += page)
        if (is_no_root(context, at)) {
            hak_reach_from(from, at - from);
            from = at + page;
        }
    hak_reach_from(from, to - from);
}

/* Below the place where the first thread stands nothing of its stack is in use. Of other threads
 * nobody knows where they stand, nor what else was joined to the mapping of their stack. */
static void look_at_mapping(const hak_os_mapping *m, void *context) {
    const bounds *b = context;
    uintptr_t start = m->start;
    if (!m->readable || (m->shared && !m->writable))
        return;
    if (m->is_stack && is_between(b->stack, m->start, m->end)) {
        start = hak_round_up(b->stack, hak_os_page_size());
        hak_reach_from(b->stack, start - b->stack);
    }
    hak_os_touched_each(start, m->end, !m->writable, look_at_pages, context);
}

bool hak_roots_look(uintptr_t stack) {
    bounds b = {.stack = stack};
    hak_os_own(&b.own_from, &b.own_to);
    bool done = hak_os_maps_each(look_at_mapping, &b);
    hak_reach_on();
    return done;
}
