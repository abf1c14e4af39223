/* Included before everything else (-include) where a program is to use the hak_ names: in the
 * sanitizer builds, whose own malloc stays in place beside the allocator. */
#ifndef HAKMEM_TESTS_HAK_NAMES_H
#define HAKMEM_TESTS_HAK_NAMES_H

#include <malloc.h>
#include <stdlib.h>

#include "hakmem.h"
#include "memory.h"

/* What malloc gives has no value, whatever lies in it; what calloc gives has, and that of realloc:
 * which pages it moved, and their values with them, cannot be seen. */
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define WITHOUT_VALUE(block) without_value(block)
#define WITH_VALUE(block) with_value(block)

static inline void *without_value(void *block) {
    __msan_allocated_memory(block, hak_malloc_usable_size(block));
    return block;
}

static inline void *with_value(void *block) {
    __msan_unpoison(block, hak_malloc_usable_size(block));
    return block;
}
#endif
#endif
#ifndef WITHOUT_VALUE
#define WITHOUT_VALUE(block) (block)
#define WITH_VALUE(block) (block)
#endif

#define malloc(size) WITHOUT_VALUE(hak_malloc(size))
#define calloc(count, size) WITH_VALUE(hak_calloc(count, size))
#define realloc(block, size) WITH_VALUE(hak_realloc(block, size))
#define free(block) hak_free(block)
#define memalign(alignment, size) WITHOUT_VALUE(hak_memalign(alignment, size))
#define posix_memalign(out, alignment, size) hak_posix_memalign(out, alignment, size)
#define malloc_trim(pad) hak_malloc_trim(pad)
#define malloc_usable_size(block) hak_malloc_usable_size(block)

/* A sanitizer's shadow memory would be counted, too. */
#define rss_kib() ((size_t)0)

#endif
