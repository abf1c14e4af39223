/* What the kernel says about the memory of this process. Reading it allocates nothing. */
#ifndef HAKMEM_TESTS_MEMORY_H
#define HAKMEM_TESTS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* A field of /proc/self/smaps_rollup in KiB, e.g. "Rss:" or "Private_Dirty:". */
size_t smaps_kib(const char *field);

/* A field of /proc/self/status in KiB, e.g. "VmSize:". Not for what is resident: the kernel counts
 * that by processor, and tells it to within some hundred KiB. */
size_t status_kib(const char *field);

/* Memory that the process has for itself, resident or in swap. Not the pages of files: those come
 * and go as the kernel likes, with the first call of a function or when memory is short. */
static inline size_t rss_kib(void) {
    return smaps_kib("Anonymous:") + smaps_kib("Swap:");
}

/* How much of some memory is resident; it begins with a page. */
size_t resident_bytes(const void *start, size_t size);

/* True under a filter of system calls, as in many containers. There the library calls neither
 * membarrier nor mincore, and so takes nothing from threads that sleep. */
bool calls_are_filtered(void);

/* The same, and says so: for tests of what the library takes from such threads. */
bool nothing_is_taken(void);

void sleep_ms(unsigned milliseconds);

/* Memory goes back by itself until rss_kib is at most `allowed_kib`, while this thread allocates a
 * little now and then. How long that takes is not asked. */
void goes_back_by_itself(size_t allowed_kib);

#endif
