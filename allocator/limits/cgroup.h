/* What the process's cgroups grant, and whether memory is short there. Version 2, version 1, and
 * both at once; nested groups: the least counts. */
#pragma once

#include "base/attributes.h"

#include <stddef.h>

/* Bytes of memory that the group and all above it grant; SIZE_MAX: no limit, or none that can be
 * seen. */
HAK_COLD size_t hak_cgroup_limit(void);

/* Percent of the last ten seconds in which some task waited for memory: of the group (version 2),
 * or of the machine; 0 where the system does not say. */
HAK_COLD unsigned long hak_cgroup_pressure(void);

/* Stands in front of all paths that are read; empty but in tests. */
extern HAK_HIDDEN const char *hak_cgroup_root;
