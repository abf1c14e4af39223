#include "pages/room.h"

#include "base/bits.h"

enum { FAN_SHIFT = 3, FAN = 1 << FAN_SHIFT };

static size_t nodes_at(unsigned level, size_t segments) {
    unsigned shift = level * FAN_SHIFT;
    return (segments + ((size_t)1 << shift) - 1) >> shift;
}

/* The level whose first node spans all segments in use: as many as the number of the last one has
 * digits to the base FAN. */
static unsigned top_level(const hak_range *r) {
    uint32_t last = (uint32_t)r->segments_fresh - 1;
    return r->segments_fresh > 1 ? hak_highest_bit(last) / FAN_SHIFT + 1 : 0;
}

static size_t size_from(unsigned level, size_t segments) {
    size_t nodes = 0;
    for (; level < HAK_ROOM_LEVELS; level++)
        nodes += nodes_at(level, segments);
    return nodes * sizeof(hak_room);
}

size_t hak_rooms_above(size_t segments) {
    return size_from(1, segments);
}

void hak_rooms_lay_out(hak_range *r, hak_room *lowest, hak_room *above, size_t segments) {
    r->rooms[0] = lowest;
    for (unsigned level = 1; level < HAK_ROOM_LEVELS; level++) {
        r->rooms[level] = above;
        above += nodes_at(level, segments);
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

static size_t span_of(unsigned level) {
    return (size_t)HAK_PAGES_PER_SEGMENT << (level * FAN_SHIFT);
}

/* The children of a node: rooms of `span` pages each, of which the last may be shorter as yet. */
typedef struct children {
    const hak_room *first, *end;
    size_t span, last_span;
} children;

static children children_of(const hak_range *r, unsigned level, size_t node) {
    const hak_room *rooms = r->rooms[level - 1];
    size_t there = nodes_at(level - 1, r->segments_fresh), end = (node + 1) << FAN_SHIFT;
    end = end < there ? end : there;
    size_t span = span_of(level - 1), pages = r->segments_fresh * HAK_PAGES_PER_SEGMENT;
    size_t last = pages - (end - 1) * span;
    return (children){rooms + (node << FAN_SHIFT), rooms + end, span, last < span ? last : span};
}

static size_t free_at_start(children c) {
    size_t pages = 0;
    for (const hak_room *room = c.first; room < c.end; room++) {
        pages += room->first;
        if (room->first != c.span)
            break;
    }
    return pages;
}

/* A node from its children, left to right; `run` is what is free up to here. */
static hak_room join(children c) {
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
    return level == 0 ? room_of(r->segments[node].used) : join(children_of(r, level, node));
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
    size_t span = span_of(level);
    bool within = c.first <= node * span && (node + 1) * span <= c.end;
    hak_room now = within ? uniform(c.used, span) : seen_now(r, level, node);
    hak_room *room = &r->rooms[level][node];
    bool differs = !equal(*room, now);
    *room = now;
    return differs;
}

/* True: the level above may have changed, too. */
static bool note_level(hak_range *r, unsigned level, change c) {
    size_t span = span_of(level), node = c.first / span, last = (c.end - 1) / span;
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
    unsigned top = top_level(r), level = 1;
    while (level <= top && note_level(r, level, c))
        level++;
}

/* Threads take and give many runs in turn, mostly near each other. So a changed segment and the
 * node above it are computed late: when somebody asks, or when another segment or node changes.
 * Many changes of one then cost one computation. */
static void settle_node(hak_range *r) {
    if (r->stale[1] == 0)
        return;
    size_t first = (r->stale[1] - 1) * span_of(1);
    r->stale[1] = 0;
    note_above(r, (change){first, first + 1, false});
}

static void settle_segment(hak_range *r) {
    if (r->stale[0] == 0)
        return;
    size_t segment = r->stale[0] - 1, node = segment >> FAN_SHIFT;
    r->stale[0] = 0;
    if (!refresh(r, 0, segment, (change){0}))
        return;
    if (r->stale[1] != node + 1)
        settle_node(r);
    r->stale[1] = node + 1;
}

static void settle(hak_range *r) {
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
        settle(r);
        note_level(r, 0, c);
        note_above(r, c);
    }
}

bool hak_room_is_right(hak_range *r, size_t segment) {
    settle(r);
    return equal(r->rooms[0][segment], room_of(r->segments[segment].used));
}

void hak_rooms_mend(hak_range *r) {
    const change none = {0};
    r->stale[0] = r->stale[1] = r->sought = 0;
    for (unsigned level = 0; r->segments_fresh != 0 && level <= top_level(r); level++)
        for (size_t node = 0; node < nodes_at(level, r->segments_fresh); node++)
            refresh(r, level, node, none);
}

/* ---- asking it ---- */

/* The child of a node in which the lowest run lies, or HAK_NO_ROOM and *page: it lies across. */
static size_t child_with(const hak_range *r, unsigned level, size_t node, size_t pages,
                         size_t *page) {
    children c = children_of(r, level, node);
    size_t child = node << FAN_SHIFT, run = 0;
    for (const hak_room *room = c.first; room < c.end; room++, child++) {
        *page = child * c.span - run;
        if (run + room->first >= pages)
            return HAK_NO_ROOM;
        if (room->longest >= pages)
            return child;
        run = room->first == c.span ? run + c.span : room->last;
    }
    return HAK_NO_ROOM;
}

/* First page of the lowest run within a segment; HAK_NO_ROOM: none lies wholly in it. */
static size_t find_within(const hak_range *r, size_t segment, size_t pages) {
    unsigned page = hak_find_run(~r->segments[segment].used, (unsigned)pages);
    return page < HAK_PAGES_PER_SEGMENT ? segment * HAK_PAGES_PER_SEGMENT + page : HAK_NO_ROOM;
}

/* A program that grows takes one run after another from the same segment. While nothing is freed
 * below, none becomes free there either, and the tree need not be asked. */
static size_t find_again(const hak_range *r, size_t pages) {
    bool is_lowest = r->sought != 0 && r->sought <= pages && pages <= HAK_PAGES_PER_SEGMENT;
    return is_lowest ? find_within(r, r->found, pages) : HAK_NO_ROOM;
}

static size_t find_and_note(hak_range *r, size_t segment, size_t pages) {
    if (r->sought == 0 || pages <= r->sought) {
        r->sought = pages;
        r->found = segment;
    }
    return find_within(r, segment, pages);
}

static size_t find_in_tree(hak_range *r, size_t pages) {
    settle(r);
    unsigned level = top_level(r);
    if (r->segments_fresh == 0 || r->rooms[level]->longest < pages)
        return HAK_NO_ROOM;
    size_t node = 0, page = 0;
    for (; level > 0; level--) {
        node = child_with(r, level, node, pages, &page);
        if (node == HAK_NO_ROOM)
            return page;
    }
    return find_and_note(r, node, pages);
}

size_t hak_room_find(hak_range *r, size_t pages) {
    size_t page = find_again(r, pages);
    return page != HAK_NO_ROOM ? page : find_in_tree(r, pages);
}

size_t hak_room_at_end(hak_range *r) {
    settle(r);
    return r->segments_fresh != 0 ? r->rooms[top_level(r)]->last : 0;
}
