/* Where there is room: a tree over the segments of a range that knows, for each node, how many
 * pages are free at its beginning, at its end, and in its longest run. So a run of any length is
 * found in a few steps, lowest address first, across the borders of segments.
 *
 *   level 2   |              node               | ...   64 segments each
 *   level 1   |    node    |    node    |  ...          8 segments
 *   level 0   |s|s|s|s| ...                             a segment each
 *
 * Lowest address first keeps what is in use together: the far end of the range falls free, and
 * pages that were used lately are used again before those that never were. Under the segment
 * lock. */
#pragma once

#include "base/types.h"

/* Bytes of all levels but the lowest, which has one hak_room for each segment. */
size_t hak_rooms_above(size_t segments);

/* Lays the levels out in two places that read as zero where they are mapped. */
void hak_rooms_lay_out(hak_range *r, hak_room *lowest, hak_room *above, size_t segments);

/* The pages first .. first + count are in use from now on, or free; or they are new. */
void hak_rooms_note(hak_range *r, size_t first, size_t count, bool used);

/* First page of the lowest run of `pages` free pages; HAK_NO_ROOM: there is none. */
#define HAK_NO_ROOM SIZE_MAX
size_t hak_room_find(hak_range *r, size_t pages);

size_t hak_room_at_end(hak_range *r);

/* Whether the tree knows this segment as it is: for tests. */
bool hak_room_is_right(hak_range *r, size_t segment);

/* In a forked child: all that the tree knows, anew. */
void hak_rooms_mend(hak_range *r);
