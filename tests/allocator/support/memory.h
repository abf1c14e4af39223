/* What the kernel says about the memory of this process. Reading it allocates nothing. */
#ifndef HAKMEM_TESTS_MEMORY_H
#define HAKMEM_TESTS_MEMORY_H

#include <stddef.h>

/* A field of /proc/self/smaps_rollup in KiB, e.g. "Rss:" or "Private_Dirty:". */
size_t smaps_kib(const char *field);

/* A field of /proc/self/status in KiB, e.g. "VmSize:"; for RSS smaps is exact, this is not. */
size_t status_kib(const char *field);

static inline size_t rss_kib(void) {
    return smaps_kib("Rss:");
}

void sleep_ms(unsigned milliseconds);

#endif
