/* Hardened builds: with HAKMEM_GUARD_SLABS=1 nobody may touch the page behind a slab of several
 * pages, so whoever writes on and on beyond a block faults there, and leaves the other slabs alone.
 *
 *   | block | block | block | block | (no memory, no access) | another run ...
 *   slab                            ^ the last page of its run
 *
 * Only slabs of several pages (blocks above 8 KiB, and of 6.5) have one: for others the space would
 * double. The run is longer by a page, so nobody else has to know of it. In other builds nothing of
 * it is there. */
#pragma once

#include "base/types.h"

/* Pages that the run of a new slab of the class has for it: 1, or 0 for none. */
size_t hak_guard_pages(unsigned cls);

/* Closes the last page of the slab, if the system lets it; `zeroed` says that no memory is there.
 * By the owner. */
void hak_guard_page_close(hak_slab *slab, bool zeroed);

/* Opens it again. False: the system refuses, and it is as it was. By the owner. */
bool hak_guard_page_open(hak_slab *slab);
