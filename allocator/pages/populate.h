/* Memory for large blocks in one call, in programs that use them as a whole.
 *
 * A page fault costs twice as much as its page does when a whole block is asked for at once. But a
 * block of which the program uses little must stay as small as it is used. So blocks are looked at:
 * how much of one that was mostly not resident became so, by the next few large requests or by its
 * free. While all of them are used nearly as a whole, further ones, not larger than the blocks that
 * were seen so far, are populated; one in eight is left alone and looked at instead, and the first
 * that is used in part ends it. Where the system does not say what is resident nothing is. */
#ifndef HAK_PAGES_POPULATE_H
#define HAK_PAGES_POPULATE_H

#include "base/types.h"

/* A large run was taken, its size is known, and what it holds does not matter. By its taker. */
void hak_populate_taken(hak_slab *run);

/* True when blocks of so many pages are used as a whole, by all that was seen. A hint. */
bool hak_populate_trusts(size_t pages);

/* A large run is about to be given back. */
void hak_populate_given(const hak_slab *run);

/* In a forked child, where the thread that held the lock may not exist any more. */
void hak_populate_after_fork_in_child(void);

#endif
