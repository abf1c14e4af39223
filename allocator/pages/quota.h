/* What counts against the limits of memory (limits/limit.h): pages of slabs and of large blocks,
 * whether they were touched or not; free pages that have memory; blocks apart. What the library
 * needs for itself, heaps and tables, does not count. */
#pragma once

#include "base/types.h"
#include "limits/limit.h"

/* Pages that count now, and these. */
size_t hak_quota_with(size_t pages);

/* How many of them are more than a limit. Where there is none: one compare. */
HAK_INLINE size_t hak_quota_beyond(size_t pages) {
    size_t lowest = atomic_load_explicit(&hak_limit.lowest, memory_order_relaxed);
    size_t all = HAK_UNLIKELY(lowest != SIZE_MAX) ? hak_quota_with(pages) : 0;
    return all > lowest ? all - lowest : 0;
}
HAK_INLINE bool hak_quota_is_near(size_t pages) {
    return hak_quota_beyond(pages) != 0;
}

/* Whether they are more than the hard limit. */
bool hak_quota_is_beyond_hard(size_t pages);

/* Under the segment lock: whether the hard limit forbids taking these free pages. Those of them
 * that have memory count already. */
HAK_COLD bool hak_quota_forbids(const hak_range *r, size_t first, size_t count);
HAK_INLINE bool hak_quota_refuses(const hak_range *r, size_t first, size_t count) {
    size_t hard = atomic_load_explicit(&hak_limit.hard, memory_order_relaxed);
    return HAK_UNLIKELY(hard != SIZE_MAX) && hak_quota_forbids(r, first, count);
}

/* As hak_refuse, for a request that the system or the hard limit forbids. The first refusal by the
 * limit is reported on stderr: many programs end without a word of their own. */
HAK_COLD void *hak_quota_refuse(size_t size);

/* A block apart begins, with `from` 0, or gets another size, in bytes, or ends, with `to` 0. False:
 * the hard limit forbids it, nothing happened. Never to a smaller one. */
bool hak_quota_resize_apart(size_t from, size_t to);

/* In a forked child: so many bytes are in blocks apart. */
void hak_quota_set_apart(size_t bytes);
