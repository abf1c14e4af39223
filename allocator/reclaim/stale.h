/* Stale magazines: those of sizes that a thread does not use any more. A magazine keeps a slab or
 * two from being empty. So a thread that uses some forty sizes, one after the other, would hold a
 * hundred slabs until the purge epoch ends, and many threads very much.
 *
 * A heap that needs pages for a slab, beside those in its run cache, gives up what it does not use
 * before it takes more and more. It looks which magazines hold as many blocks as when it looked
 * last, in an earlier tick of the clock. Their blocks go back to the slabs, and slabs that are
 * empty then serve any thread. A heap that lives on what it has is left alone. */
#pragma once

#include "base/types.h"

/* Called when the heap has taken pages: looks at all magazines, once in a tick of the clock. `now`
 * is in milliseconds. By the owner. */
void hak_stale_look(hak_heap *heap, uint64_t now);
