#include "cold/room.h"

#include "base/bits.h"

enum { FAN_SHIFT = 4, FAN = 1 << FAN_SHIFT };

/* Nodes of a level that `segments` segments need. */
static size_t nodes_at(unsigned level, size_t segments) {
    unsigned shift = level * FAN_SHIFT;
    return (segments + ((size_t)1 << shift) - 1) >> shift;
}

/* The level whose first node spans all segments in use. */
static unsigned top_level(const hak_range *r) {
    unsigned level = 0;
    while (nodes_at(level, r->segments_fresh) > 1)
        level++;
    return level;
}

size_t hak_rooms_size(size_t segments) {
    size_t nodes = 0;
    for (unsigned level = 1; level <= HAK_ROOM_LEVELS; level++)
        nodes += nodes_at(level, segments);
    return nodes * sizeof(hak_room);
}

void hak_rooms_lay_out(hak_range *r, char *start, size_t segments) {
    for (unsigned level = 1; level <= HAK_ROOM_LEVELS; level++) {
        r->rooms[level - 1] = (hak_room *)(void *)start;
        start += nodes_at(level, segments) * sizeof(hak_room);
    }
}

/* ---- keeping it ---- */

hak_room hak_room_of(uint32_t used) {
    if (used == 0)
        return (hak_room){HAK_PAGES_PER_SEGMENT, HAK_PAGES_PER_SEGMENT, HAK_PAGES_PER_SEGMENT};
    return (hak_room){.first = hak_lowest_bit(used),
                      .longest = hak_longest_run(~used),
                      .last = HAK_PAGES_PER_SEGMENT - 1 - hak_highest_bit(used)};
}

static hak_room *room_at(const hak_range *r, unsigned level, size_t node) {
    return level == 0 ? &r->segments[node].room : &r->rooms[level - 1][node];
}

/* Pages that a node spans. */
static size_t span_of(unsigned level) {
    return (size_t)HAK_PAGES_PER_SEGMENT << (level * FAN_SHIFT);
}

/* One past the last child of a node. */
static size_t children_end(const hak_range *r, unsigned level, size_t node) {
    size_t end = (node + 1) << FAN_SHIFT, there = nodes_at(level - 1, r->segments_fresh);
    return end < there ? end : there;
}

/* A node from its children, left to right; `run` is what is free up to here. */
static hak_room join(const hak_range *r, unsigned level, size_t node) {
    size_t span = span_of(level - 1), end = children_end(r, level, node), run = 0, longest = 0;
    size_t first = 0;
    bool still_first = true;
    for (size_t child = node << FAN_SHIFT; child < end; child++) {
        const hak_room *room = room_at(r, level - 1, child);
        size_t across = run + room->first;
        size_t here = across > room->longest ? across : room->longest;
        longest = here > longest ? here : longest;
        if (still_first)
            first = across;
        bool is_free = room->first == span;
        still_first = still_first && is_free;
        run = is_free ? across : room->last;
    }
    return (hak_room){(uint32_t)first, (uint32_t)longest, (uint32_t)run};
}

/* What a node says that is wholly in use, or wholly free. */
static hak_room uniform(bool used, size_t span) {
    uint32_t pages = used ? 0 : (uint32_t)span;
    return (hak_room){pages, pages, pages};
}

static void refresh(hak_range *r, unsigned level, size_t node) {
    *room_at(r, level, node) =
        level == 0 ? hak_room_of(r->segments[node].used) : join(r, level, node);
}

/* Nodes that lie wholly within the pages need no look at their children; the one at each end may.
 */
static void note_level(hak_range *r, unsigned level, size_t first, size_t last, bool used) {
    size_t span = span_of(level), node = first / span, end = last / span;
    hak_room same = uniform(used, span);
    refresh(r, level, node);
    for (node++; node < end; node++)
        *room_at(r, level, node) = same;
    if (node == end)
        refresh(r, level, end);
}

void hak_rooms_note(hak_range *r, size_t first, size_t count, bool used) {
    unsigned top = top_level(r);
    for (unsigned level = 0; level <= top; level++)
        note_level(r, level, first, first + count - 1, used);
}

/* ---- asking it ---- */

/* The child of a node in which the lowest run lies, or HAK_NO_ROOM and *page: it lies across. */
static size_t child_with(const hak_range *r, unsigned level, size_t node, size_t pages,
                         size_t *page) {
    size_t span = span_of(level - 1), end = children_end(r, level, node), run = 0;
    for (size_t child = node << FAN_SHIFT; child < end; child++) {
        const hak_room *room = room_at(r, level - 1, child);
        *page = child * span - run;
        if (run + room->first >= pages)
            return HAK_NO_ROOM;
        if (room->longest >= pages)
            return child;
        run = room->first == span ? run + span : room->last;
    }
    return HAK_NO_ROOM;
}

size_t hak_room_find(const hak_range *r, size_t pages) {
    unsigned level = top_level(r);
    if (r->segments_fresh == 0 || room_at(r, level, 0)->longest < pages)
        return HAK_NO_ROOM;
    size_t node = 0, page = 0;
    for (; level > 0; level--) {
        node = child_with(r, level, node, pages, &page);
        if (node == HAK_NO_ROOM)
            return page;
    }
    uint32_t free_pages = ~r->segments[node].used;
    return node * HAK_PAGES_PER_SEGMENT + hak_find_run(free_pages, (unsigned)pages, 1);
}

size_t hak_room_at_end(const hak_range *r) {
    return r->segments_fresh != 0 ? room_at(r, top_level(r), 0)->last : 0;
}
