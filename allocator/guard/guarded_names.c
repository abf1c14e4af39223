/* The functions of include/hakmem.h and libc's names, over the guard: the wishes and claims that
 * each of them stands for. What the arguments must be like is left to the core's functions. */
#include "base/bits.h"
#include "base/geometry.h"
#include "front/core.h"
#include "guard/guard.h"
#include "stats/stats.h"

#include <errno.h>

static const hak_free_call claim_of_free = {"free", SIZE_MAX, 0, HAK_FROM_MALLOC};

static void *zeroed(size_t alignment, size_t size) {
    (void)alignment;
    return hak_core_calloc(1, size);
}

HAK_EXPORT void *hak_malloc(size_t size) {
    return hak_guard_allocate(&(hak_wish){.size = size});
}

HAK_EXPORT void hak_free(void *block) {
    hak_guard_free(block, &claim_of_free);
}

/* Whole pages come zeroed from the core, and cost nothing where they are never touched. */
HAK_EXPORT void *hak_calloc(size_t count, size_t size) {
    size_t bytes;
    if (hak_product_overflows(count, size, &bytes))
        return hak_refuse(SIZE_MAX);
    bool by_pages = bytes > HAK_MEDIUM_MAX;
    return hak_guard_allocate(
        &(hak_wish){.from = by_pages ? zeroed : NULL, .size = bytes, .zero = !by_pages});
}

HAK_EXPORT void *hak_realloc(void *block, size_t size) {
    if (block == NULL)
        return hak_malloc(size);
    if (size != 0)
        return hak_guard_resize(block, size);
    hak_guard_free(block, &(hak_free_call){"realloc", SIZE_MAX, 0, HAK_FROM_MALLOC});
    return NULL;
}

HAK_EXPORT void *hak_reallocarray(void *block, size_t count, size_t size) {
    size_t bytes;
    return hak_product_overflows(count, size, &bytes) ? hak_refuse(SIZE_MAX)
                                                      : hak_realloc(block, bytes);
}

HAK_EXPORT size_t hak_malloc_usable_size(const void *block) {
    return block != NULL ? hak_guard_size(block, "malloc_usable_size") : 0;
}

HAK_EXPORT void *hak_aligned_alloc(size_t alignment, size_t size) {
    return hak_guard_allocate(
        &(hak_wish){.from = hak_core_aligned_alloc, .size = size, .alignment = alignment});
}

HAK_EXPORT void *hak_memalign(size_t alignment, size_t size) {
    return hak_guard_allocate(
        &(hak_wish){.from = hak_core_memalign, .size = size, .alignment = alignment});
}

HAK_EXPORT int hak_posix_memalign(void **out, size_t alignment, size_t size) {
    if (!hak_is_power_of_two(alignment) || alignment % sizeof(void *) != 0)
        return EINVAL;
    int saved_errno = errno;
    void *block = hak_memalign(alignment, size);
    errno = saved_errno;
    if (block == NULL)
        return ENOMEM;
    *out = block;
    return 0;
}

#include "front/libc_names.h"
