/* The limits of memory in force: HAKMEM_SOFT_LIMIT, HAKMEM_HARD_LIMIT, HAKMEM_PRESSURE. Whoever
 * takes pages compares one word; pages/quota.h says what counts. */
#pragma once

#include "base/attributes.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* In pages; SIZE_MAX: none. Words that are written together, but read one by one. */
typedef struct hak_limits {
    _Atomic size_t lowest; /* of the other two */
    _Atomic size_t soft, hard;
} hak_limits;
extern HAK_HIDDEN hak_limits hak_limit;

/* As the policy says now. Any thread. */
HAK_COLD void hak_limit_update(void);

/* The same at the end of an epoch and before pages are taken, where a limit may have changed
 * without the policy: a share of the cgroup's, or memory that is short. Once in a purge delay at
 * most. Any thread. */
HAK_COLD void hak_limit_look_again(void);
extern HAK_HIDDEN _Atomic bool hak_limit_moves;
HAK_INLINE void hak_limit_look(void) {
    if (HAK_UNLIKELY(atomic_load_explicit(&hak_limit_moves, memory_order_relaxed)))
        hak_limit_look_again();
}

/* ---- what the process's cgroups grant, and whether memory is short there: limits/cgroup.c.
 * Version 2, version 1, and both at once; nested groups: the least counts ---- */

/* Bytes of memory that the group and all above it grant; SIZE_MAX: no limit. Where no limit can be
 * read, `before`. */
HAK_COLD size_t hak_cgroup_limit(size_t before);

/* Percent of the last ten seconds in which some task waited for memory: of the group (version 2),
 * or of the machine; 0 where the system does not say. */
HAK_COLD unsigned long hak_cgroup_pressure(void);

/* Stands in front of all paths that are read; empty but in tests. */
extern HAK_HIDDEN const char *hak_cgroup_root;
