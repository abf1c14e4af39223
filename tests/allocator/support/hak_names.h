/* Included before everything else (-include) where a program is to use the hak_ names: in the
 * sanitizer builds, whose own malloc stays in place beside the allocator. */
#ifndef HAKMEM_TESTS_HAK_NAMES_H
#define HAKMEM_TESTS_HAK_NAMES_H

#include <malloc.h>
#include <stdlib.h>

#include "hakmem.h"
#include "memory.h"

#define malloc(size) hak_malloc(size)
#define calloc(count, size) hak_calloc(count, size)
#define realloc(block, size) hak_realloc(block, size)
#define free(block) hak_free(block)
#define memalign(alignment, size) hak_memalign(alignment, size)
#define posix_memalign(out, alignment, size) hak_posix_memalign(out, alignment, size)
#define malloc_trim(pad) hak_malloc_trim(pad)
#define malloc_usable_size(block) hak_malloc_usable_size(block)

/* A sanitizer's shadow memory would be counted, too. */
#define rss_kib() ((size_t)0)

#endif
