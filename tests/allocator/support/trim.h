/* For programs of libcs that have malloc_trim. */
#ifndef HAKMEM_TESTS_TRIM_H
#define HAKMEM_TESTS_TRIM_H

#include <malloc.h>

#include "check.h"
#include "memory.h"

/* Memory goes back by malloc_trim until rss_kib is at most `allowed_kib`, at once. */
static inline void goes_back_by_trim(size_t allowed_kib) {
    size_t before = rss_kib();
    malloc_trim(0);
    size_t after = rss_kib();
    say("%zu KiB -> %zu after malloc_trim, allowed are %zu", before, after, allowed_kib);
    CHECK(after <= allowed_kib);
}

#endif
