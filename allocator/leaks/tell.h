/* What the library says about leaks, on stderr. */
#pragma once

#include "leaks/suspects.h"

/* Tells of all suspects that were not reached, but for those that `lives` says false of: they were
 * freed meanwhile. Returns how many there are. */
size_t hak_leaks_tell(bool (*lives)(const hak_suspect *s));
