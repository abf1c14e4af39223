/* The tree of free room as room.c keeps it and room_find.c asks it (pages/room.h has its picture).
 */
#pragma once

#include "base/bits.h"
#include "base/types.h"

enum { HAK_FAN_SHIFT = 3 }; /* a node has eight children */

HAK_INLINE size_t hak_room_nodes(unsigned level, size_t segments) {
    unsigned shift = level * HAK_FAN_SHIFT;
    return (segments + ((size_t)1 << shift) - 1) >> shift;
}

/* The level whose first node spans all segments in use: as many as the number of the last one has
 * octal digits. */
HAK_INLINE unsigned hak_room_top(const hak_range *r) {
    uint32_t last = (uint32_t)r->segments_fresh - 1;
    return r->segments_fresh > 1 ? hak_highest_bit(last) / HAK_FAN_SHIFT + 1 : 0;
}

HAK_INLINE size_t hak_room_span(unsigned level) {
    return (size_t)HAK_PAGES_PER_SEGMENT << (level * HAK_FAN_SHIFT);
}

/* The children of a node: rooms of `span` pages each, of which the last may be shorter as yet. */
typedef struct hak_room_children {
    const hak_room *first, *end;
    size_t span, last_span;
} hak_room_children;

HAK_INLINE hak_room_children hak_room_children_of(const hak_range *r, unsigned level, size_t node) {
    const hak_room *rooms = r->rooms[level - 1];
    size_t there = hak_room_nodes(level - 1, r->segments_fresh), end = (node + 1) << HAK_FAN_SHIFT;
    end = end < there ? end : there;
    size_t span = hak_room_span(level - 1), pages = r->segments_fresh * HAK_PAGES_PER_SEGMENT;
    size_t last = pages - (end - 1) * span;
    return (hak_room_children){rooms + (node << HAK_FAN_SHIFT), rooms + end, span,
                               last < span ? last : span};
}

/* Computes what was left for later: before the tree is asked. */
void hak_rooms_settle(hak_range *r);
