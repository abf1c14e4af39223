/* What a forked child does about pages that other threads of its parent were busy with: os/lock.h.
 *
 * Pages that are free again, but count as used while the system takes their memory away, are
 * *noted* for that long (pages/note.h). Of all else that the segment lock guards the words count
 * that say which pages are used and which have memory; what another thread was just taking or
 * giving stays used for ever. */
#pragma once

#include "base/types.h"

/* Makes what the segment lock guards sound in a forked child. */
void hak_pages_after_fork_in_child(void);
