/* What a forked child does about pages that other threads of its parent were busy with: os/lock.h.
 *
 * The child trusts those words which say what pages are used, what pages have memory, and which
 * ones are leaving. It works out anew all else that the segment lock guards. What another thread
 * was just taking or giving stays used for ever. */
#pragma once

#include "base/types.h"

void hak_pages_after_fork_in_child(void);
