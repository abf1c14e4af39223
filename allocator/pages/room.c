#include "pages/room.h"

#include "pages/room_tree.h"

static size_t size_from(unsigned level, size_t segments) {
    size_t nodes = 0;
    for (; level < HAK_ROOM_LEVELS; level++)
        nodes += hak_room_nodes(level, segments);
    return nodes * sizeof(hak_room);
}

size_t hak_rooms_above(size_t segments) {
    return size_from(1, segments);
}

void hak_rooms_lay_out(hak_range *r, hak_room *lowest, hak_room *above, size_t segments) {
    r->rooms[0] = lowest;
    for (unsigned level = 1; level < HAK_ROOM_LEVELS; level++) {
        r->rooms[level] = above;
        above += hak_room_nodes(level, segments);
    }
}

/* ---- keeping it ---- */

static hak_room room_of(uint32_t used) {
    if (used == 0)
        return (hak_room){HAK_PAGES_PER_SEGMENT, HAK_PAGES_PER_SEGMENT, HAK_PAGES_PER_SEGMENT};
    return (hak_room){.first = hak_lowest_bit(used),
                      .longest = hak_longest_run(~used),
                      .last = HAK_PAGES_PER_SEGMENT - 1 - hak_highest_bit(used)};
}

static size_t free_at_start(hak_room_children c) {
    size_t pages = 0;
    for (const hak_room *room = c.first; room < c.end; room++) {
        pages += room->first;
        if (room->first != c.span)
            break;
    }
    return pages;
}

/* A node from its children, left to right; `run` is what is free up to here. */
static hak_room join(hak_room_children c) {
    size_t run = 0, longest = 0;
    for (const hak_room *room = c.first; room < c.end; room++) {
        size_t across = run + room->first;
        longest = across > longest ? across : longest;
        longest = room->longest > longest ? room->longest : longest;
        size_t whole = room + 1 < c.end ? c.span : c.last_span;
        run = room->first == whole ? across : room->last;
    }
    return (hak_room){(uint32_t)free_at_start(c), (uint32_t)longest, (uint32_t)run};
}

/* What a node holds whose pages are all in use, or all free. */
static hak_room uniform(bool used, size_t span) {
    uint32_t pages = used ? 0 : (uint32_t)span;
    return (hak_room){pages, pages, pages};
}

static hak_room seen_now(const hak_range *r, unsigned level, size_t node) {
    return level == 0 ? room_of(r->segments[node].used)
                      : join(hak_room_children_of(r, level, node));
}

static bool equal(hak_room a, hak_room b) {
    return a.first == b.first && a.longest == b.longest && a.last == b.last;
}

/* Pages first .. end that have changed together. */
typedef struct change {
    size_t first, end;
    bool used;
} change;

/* Makes a node anew; within the change it is uniform, and its children are not read. True: it has
 * changed. */
static bool refresh(hak_range *r, unsigned level, size_t node, change c) {
    size_t span = hak_room_span(level);
    bool within = c.first <= node * span && (node + 1) * span <= c.end;
    hak_room now = within ? uniform(c.used, span) : seen_now(r, level, node);
    hak_room *room = &r->rooms[level][node];
    bool differs = !equal(*room, now);
    *room = now;
    return differs;
}

/* True: the level above may have changed, too. */
static bool note_level(hak_range *r, unsigned level, change c) {
    size_t span = hak_room_span(level), node = c.first / span, last = (c.end - 1) / span;
    bool differs = refresh(r, level, node, c);
    if (node == last)
        return differs;
    hak_room same = uniform(c.used, span);
    for (node++; node < last; node++)
        r->rooms[level][node] = same;
    refresh(r, level, last, c);
    return true;
}

static void note_above(hak_range *r, change c) {
    unsigned top = hak_room_top(r), level = 1;
    while (level <= top && note_level(r, level, c))
        level++;
}

/* Threads take and give many runs in turn, mostly near each other. So a changed segment and the
 * node above it are computed late: when somebody asks, or when another segment or node changes.
 * Many changes of one then cost one computation. */
static void settle_node(hak_range *r) {
    if (r->stale[1] == 0)
        return;
    size_t first = (r->stale[1] - 1) * hak_room_span(1);
    r->stale[1] = 0;
    note_above(r, (change){first, first + 1, false});
}

static void settle_segment(hak_range *r) {
    if (r->stale[0] == 0)
        return;
    size_t segment = r->stale[0] - 1, node = segment >> HAK_FAN_SHIFT;
    r->stale[0] = 0;
    if (!refresh(r, 0, segment, (change){0}))
        return;
    if (r->stale[1] != node + 1)
        settle_node(r);
    r->stale[1] = node + 1;
}

void hak_rooms_settle(hak_range *r) {
    settle_segment(r);
    settle_node(r);
}

/* A run given back at or below the place where the last search ended may be the lowest now. */
static void note_given(hak_range *r, size_t segment) {
    if (segment <= r->found)
        r->sought = 0;
}

void hak_rooms_note(hak_range *r, size_t first, size_t count, bool used) {
    change c = {first, first + count, used};
    size_t segment = first / HAK_PAGES_PER_SEGMENT;
    if (!used)
        note_given(r, segment);
    if (r->stale[0] != segment + 1)
        settle_segment(r);
    if ((c.end - 1) / HAK_PAGES_PER_SEGMENT == segment) {
        r->stale[0] = segment + 1;
    } else {
        hak_rooms_settle(r);
        note_level(r, 0, c);
        note_above(r, c);
    }
}

bool hak_room_is_right(hak_range *r, size_t segment) {
    hak_rooms_settle(r);
    return equal(r->rooms[0][segment], room_of(r->segments[segment].used));
}

void hak_rooms_mend(hak_range *r) {
    const change none = {0};
    r->stale[0] = r->stale[1] = r->sought = 0;
    for (unsigned level = 0; r->segments_fresh != 0 && level <= hak_room_top(r); level++)
        for (size_t node = 0; node < hak_room_nodes(level, r->segments_fresh); node++)
            refresh(r, level, node, none);
}
