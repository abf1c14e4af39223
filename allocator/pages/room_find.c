#include "pages/room.h"
#include "pages/room_tree.h"

/* The child of a node in which the lowest run lies, or HAK_NO_ROOM and *page: it lies across. */
static size_t child_with(const hak_range *r, unsigned level, size_t node, size_t pages,
                         size_t *page) {
    hak_room_children c = hak_room_children_of(r, level, node);
    size_t child = node << HAK_FAN_SHIFT, run = 0;
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
    hak_rooms_settle(r);
    unsigned level = hak_room_top(r);
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
    hak_rooms_settle(r);
    return r->segments_fresh != 0 ? r->rooms[hak_room_top(r)]->last : 0;
}
