/* The dirty list: segments that have dirty pages, the one that has waited longest first. The purge
 * takes them from there. Under the segment lock. */
#pragma once

#include "base/types.h"

/* Puts a segment with dirty pages at the end of the list, if it is not on it. */
void hak_dirty_push(hak_segment *s);

/* Takes the first one off the list. NULL: the list is empty. */
hak_segment *hak_dirty_pop(void);

/* Segments on the list. Any thread; a hint without the lock. */
size_t hak_dirty_count(void);

/* In a forked child: the list is empty, and what the segments say of it does not count. */
void hak_dirty_forget(void);
