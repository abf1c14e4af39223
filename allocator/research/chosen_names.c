/* The functions of include/hakmem.h and libc's names in research builds: the core, or libc when
 * HAKMEM_FORCE_LIBC=1. Blocks that the core gave out before that was known stay the core's. */
#include "base/bits.h"
#include "front/core.h"
#include "pages/range.h"
#include "research/libc.h"
#include "stats/stats.h"

#include <string.h>

/* libc, if the block is to be freed or looked at there. */
static const hak_libc *owner_of(const void *block) {
    const hak_libc *libc = hak_forced();
    return libc != NULL && hak_run_of(block) == NULL ? libc : NULL;
}

#define SERVE(type, name, parameters, arguments)                                                   \
    HAK_EXPORT type hak_##name parameters {                                                        \
        const hak_libc *libc = hak_forced();                                                       \
        return HAK_LIKELY(libc == NULL) ? hak_core_##name arguments : libc->name arguments;        \
    }

SERVE(void *, malloc, (size_t size), (size))
SERVE(void *, calloc, (size_t count, size_t size), (count, size))
SERVE(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size))
SERVE(void *, memalign, (size_t alignment, size_t size), (alignment, size))
SERVE(int, posix_memalign, (void **out, size_t alignment, size_t size), (out, alignment, size))

HAK_EXPORT void hak_free(void *block) {
    const hak_libc *libc = owner_of(block);
    if (HAK_LIKELY(libc == NULL))
        hak_core_free(block);
    else
        libc->free(block);
}

static void *move_to_libc(const hak_libc *libc, void *block, size_t size) {
    size_t old_size = hak_core_malloc_usable_size(block);
    void *moved = libc->malloc(size);
    if (moved == NULL)
        return NULL;
    memcpy(moved, block, old_size < size ? old_size : size);
    hak_core_free(block);
    return moved;
}

HAK_EXPORT void *hak_realloc(void *block, size_t size) {
    const hak_libc *libc = hak_forced();
    if (HAK_LIKELY(libc == NULL))
        return hak_core_realloc(block, size);
    if (block == NULL || hak_run_of(block) == NULL)
        return libc->realloc(block, size);
    return size != 0 ? move_to_libc(libc, block, size) : hak_core_realloc(block, 0);
}

HAK_EXPORT void *hak_reallocarray(void *block, size_t count, size_t size) {
    size_t bytes;
    return hak_product_overflows(count, size, &bytes) ? hak_refuse(SIZE_MAX)
                                                      : hak_realloc(block, bytes);
}

HAK_EXPORT size_t hak_malloc_usable_size(const void *block) {
    const hak_libc *libc = owner_of(block);
    return libc == NULL ? hak_core_malloc_usable_size(block)
                        : libc->malloc_usable_size((void *)(uintptr_t)block);
}

#include "front/libc_names.h"
