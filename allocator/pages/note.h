/* Notes of pages that are free, but count as used while the system takes their memory away: what a
 * forked child needs to know of threads that it does not have (pages/mend.h). */
#pragma once

#include "base/types.h"

/* Notes `count` pages (1 .. 65535) that begin with page `first` of r, or (0) all of the run that
 * does; returns what to say when they are free. Before they are claimed, or before the run leaves
 * where it was known. Any thread. */
size_t hak_note_pages(const hak_range *r, size_t first, size_t count);
void hak_note_forget(size_t note);

/* In a forked child: a note that is there, and is no more. An address and, below its last bits, the
 * pages; 0: there is none. */
uintptr_t hak_note_take(void);
