/* Huge pages where memory is used densely, in programs that use much of it (HAKMEM_HUGE_PAGES=3).
 *
 * A huge page costs one page fault instead of 512 and one entry of the TLB, but all of it is
 * resident as soon as one byte is. Whether that is a loss can be seen nearby:
 *
 *   segments   | . . . . . . . p | . h h h h h h p | h h ...       p  keeps small pages
 *                             ^-----' decides                      h  huge ones, perhaps
 *
 * One segment in eight keeps small pages and is the probe for later ones; from the sixteenth on it
 * is one in sixteen, and so forth. Later segments that are still empty get huge pages only while
 * nearly all of their probe is resident. A heap that is full of holes, the untouched magazines of
 * many threads, and small programs never get any.
 *
 * A huge block may be touched little, whatever lies near it. So its probe is an earlier huge block
 * that has small pages. While the middle of that is resident, later ones get huge pages, up to
 * twice its length together; behind a second such probe up to eight times its length.
 *
 * What is purged goes back to small pages first, so that the system does not fill the holes again
 * by itself. Under the segment lock. */
#pragma once

#include "base/types.h"

/* Before free pages are claimed for a run of `pages` pages, `count` of them new: decides for the
 * segments among them that hold nothing yet. */
void hak_dense_choose(hak_range *r, size_t first, size_t count, size_t pages);

/* Pages first .. first + count will be purged, in part or in whole: their segments have small pages
 * from now on. */
void hak_dense_leave(hak_range *r, size_t first, size_t count);
/* The same for a run. By its owner, without the lock. False: it had small pages already. */
bool hak_dense_leave_run(const hak_slab *run);

/* True when huge pages may stand behind the run: then what of it was never used is resident, too.
 * Any thread; a hint without the lock. */
bool hak_dense_holds(const hak_slab *run);
