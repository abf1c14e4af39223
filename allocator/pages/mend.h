/* What a forked child does about pages that other threads of its parent were busy with: os/lock.h.
 *
 * Pages that are free again, but count as used while the system takes their memory away, are
 * *noted* for that long (pages/note.h). The child trusts those words which say what pages are used
 * and what pages have memory. It works out anew all else that the segment lock guards. What another
 * thread was just taking or giving stays used for ever. */
#pragma once

#include "base/types.h"

void hak_pages_after_fork_in_child(void);
