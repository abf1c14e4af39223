/* Segments that have dirty pages wait on a list, the one that has waited longest first. */
#pragma once

#include "base/types.h"

/* Under the segment lock: puts a segment with dirty pages at the end of the list, if it is not on
 * it. */
void hak_dirty_push(hak_segment *s);
/* Under it, too: takes the first one off the list. NULL: the list is empty. */
hak_segment *hak_dirty_pop(void);
/* In a forked child: empties the list. The segments still say that they are on it. */
void hak_dirty_forget(void);
/* Segments on the list. Any thread; a hint without the lock. */
size_t hak_dirty_count(void);
