/* Large blocks as runs of pages, and the run cache of this thread: for tests inside the library. */
#pragma once

#include "include/hakmem.h"
#include "pages/range.h"
#include "thread/thread.h"

#include "check.h"

static inline enum hak_run_kind kind_of(const void *block) {
    return (enum hak_run_kind)hak_run_of(block)->kind;
}

/* Runs that wait in the cache. */
static inline size_t cached(void) {
    return hak_this_thread.owned->cache.count;
}

/* A large block, which must be there. */
static inline void *come(size_t size) {
    void *block = hak_malloc(size);
    CHECK(block != NULL && kind_of(block) == HAK_RUN_LARGE);
    return block;
}
