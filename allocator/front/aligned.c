/* Aligned allocation. Blocks of a class whose size is a multiple of the alignment are aligned to
 * it, because slabs start on a page; only larger alignments need whole pages. */
#include "base/bits.h"
#include "base/classes.h"
#include "hot/magazine.h"
#include "include/hakmem.h"
#include "large/large.h"
#include "pages/canaries.h"
#include "stats/stats.h"

#include <errno.h>

static HAK_DOOR void *allocate_pages(size_t alignment, size_t size) {
    if (alignment > PTRDIFF_MAX)
        return hak_refuse(size);
    return hak_large_allocate(size != 0 ? size : 1, alignment, false);
}

static HAK_DOOR void *allocate_from_class(size_t alignment, size_t size) {
    unsigned cls = hak_class_aligned(1, HAK_FIRST_COLD, size + hak_canary_bytes(), alignment);
    if (cls < HAK_FIRST_COLD)
        return hak_malloc(hak_classes[cls].size - hak_canary_bytes());
    HAK_NOT_A_CONDITIONAL_TAIL_CALL();
    return allocate_pages(alignment, size);
}

/* alignment is a power of two. NULL and errno = ENOMEM. In a table of classes with even steps, as
 * ours is, a multiple of the alignment falls into a class whose blocks are all aligned. */
static void *allocate_blocks(size_t alignment, size_t size) {
    if (HAK_UNLIKELY(size > PTRDIFF_MAX || alignment > HAK_PAGE_SIZE))
        return allocate_pages(alignment, size);
    size_t behind = hak_canary_bytes();
    void *block = hak_malloc(hak_round_up(size + behind, alignment) - behind);
    if (HAK_LIKELY(((uintptr_t)block & (alignment - 1)) == 0))
        return block;
    hak_free(block);
    HAK_NOT_A_CONDITIONAL_TAIL_CALL();
    return allocate_from_class(alignment, size);
}

static void *allocate_aligned(size_t alignment, size_t size) {
    void *block = allocate_blocks(alignment, size);
    return hak_canary_bytes() != 0 ? hak_canary_move(block, size) : block;
}

static void *refuse_alignment(void) {
    errno = EINVAL;
    return NULL;
}

/* As posix_memalign, where the lane had no block or one that is not aligned: `taken`. */
static HAK_DOOR int memalign_elsewhere(void **out, size_t alignment, size_t size, void *taken) {
    int saved_errno = errno;
    if (taken != NULL)
        hak_free(taken);
    void *block = allocate_aligned(alignment, size);
    errno = saved_errno;
    if (block == NULL)
        return ENOMEM;
    *out = block;
    return 0;
}

HAK_EXPORT HAK_NEAR_FREE int hak_posix_memalign(void **out, size_t alignment, size_t size) {
    if (!hak_is_power_of_two(alignment) || alignment % sizeof(void *) != 0)
        return EINVAL;
    void *block = NULL;
    if (HAK_LIKELY(size <= HAK_SMALL_MAX && alignment <= HAK_SMALL_MAX)) {
        block = hak_take_small(hak_round_up(size, alignment));
        if (HAK_LIKELY(block != NULL && ((uintptr_t)block & (alignment - 1)) == 0)) {
            *out = block;
            return 0;
        }
    }
    HAK_NOT_A_CONDITIONAL_TAIL_CALL();
    return memalign_elsewhere(out, alignment, size, block);
}

HAK_EXPORT void *hak_aligned_alloc(size_t alignment, size_t size) {
    return hak_is_power_of_two(alignment) ? allocate_aligned(alignment, size) : refuse_alignment();
}

HAK_EXPORT void *hak_memalign(size_t alignment, size_t size) {
    if (alignment > SIZE_MAX / 2 + 1)
        return refuse_alignment();
    while (!hak_is_power_of_two(alignment))
        alignment = alignment == 0 ? 1 : alignment + (alignment & -alignment);
    return allocate_aligned(alignment, size);
}

HAK_LIBC_NAME(posix_memalign)
HAK_LIBC_NAME(aligned_alloc)
HAK_LIBC_NAMES(memalign)
