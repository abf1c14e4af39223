/* calloc, realloc and their relatives: ladders of early returns over the gate. */
#include "base/bits.h"
#include "base/classes.h"
#include "front/strict.h"
#include "hot/magazine.h"
#include "include/hakmem.h"
#include "large/large.h"
#include "pages/canaries.h"
#include "pages/mark.h"
#include "pages/range.h"
#include "stats/stats.h"

#include <string.h>

/* As calloc, where the lane had no block or the size is beyond it. */
static HAK_DOOR void *calloc_elsewhere(size_t bytes) {
    if (bytes > HAK_MEDIUM_MAX)
        return hak_large_allocate(bytes, 1, true); /* fresh memory is zero already */
    void *block = hak_malloc(bytes);
    return HAK_LIKELY(block != NULL) ? memset(block, 0, bytes) : NULL;
}

HAK_EXPORT HAK_HOT void *hak_calloc(size_t count, size_t size) {
    size_t bytes;
    if (HAK_UNLIKELY(hak_product_overflows(count, size, &bytes)))
        return hak_refuse(SIZE_MAX);
    if (HAK_LIKELY(bytes <= HAK_SMALL_MAX)) {
        void *block = hak_take_small(bytes);
        if (HAK_LIKELY(block != NULL))
            return memset(block, 0, bytes);
    }
    return calloc_elsewhere(bytes);
}

static void *copy_to_new(void *block, size_t size, size_t old_size) {
    void *copy = hak_malloc(size);
    if (HAK_UNLIKELY(copy == NULL))
        return size <= old_size ? block : NULL; /* programs rely on shrinking to work */
    memcpy(copy, block, old_size < size ? old_size : size);
    hak_free(block);
    return copy;
}

/* A block stays where it is while more than half of its room is wanted. HAK_CLASS_NONE has no room:
 * so NULL and large blocks fail this test, like size 0, and need no branch of their own. */
static inline bool fits(size_t room, size_t size) {
    return size - room / 2 - 1 < room / 2;
}

/* A block that grows will grow again: it gets at least a quarter more than it had. So a string that
 * grows byte by byte is copied a logarithmic number of times. */
static void *move(void *block, size_t size, size_t room) {
    size_t generous = room + room / 4;
    return copy_to_new(block, size > room && size < generous ? generous : size, room);
}

static HAK_DOOR void *move_small(void *block, size_t size, size_t room) {
    if (size <= room && hak_size_below(hak_class_of(block)) < size)
        return block; /* no smaller class holds it */
    return move(block, size, room);
}

/* Whether a block stays where it is, and its canary alone moves. */
static bool fits_with_canary(const void *block, size_t room, size_t size) {
    if (size > room - hak_canary_bytes())
        return false;
    size_t whole = size + hak_canary_bytes();
    return fits(room, whole) || hak_size_below(hak_class_of(block)) < whole;
}

/* The block has a canary, or no block begins here. What grows gets room to grow again, and still
 * has its canary right behind what was asked for. */
static HAK_DOOR void *resize_with_canary(void *block, size_t size) {
    size_t old_size = hak_canary_size("realloc", block);
    size_t room = hak_classes[hak_class_of(block)].size, generous = room + room / 4;
    if (size == 0) {
        hak_free(block);
        return NULL;
    }
    if (fits_with_canary(block, room, size))
        return hak_canary_write(block, size);
    void *copy = copy_to_new(block, size > old_size && size < generous ? generous : size, old_size);
    return hak_canary_move(copy, size);
}

/* Where what is freed becomes zero, no part of a large block is given up: it is copied, and freed.
 */
static HAK_DOOR void *resize_large(void *block, size_t size) {
    size_t old_size = hak_large_size(block, "realloc");
    if (HAK_HARDENED && HAK_UNLIKELY(hak_zeroes_freed))
        return fits(old_size, size) ? block : move(block, size, old_size);
    if (size > HAK_MEDIUM_MAX && size <= PTRDIFF_MAX)
        return hak_large_resize(block, size);
    return copy_to_new(block, size, old_size);
}

/* The caller has looked for the block's class in the first range alone. */
static HAK_DOOR void *resize_odd(void *block, size_t size) {
    if (block == NULL)
        return hak_malloc(size);
    if (size == 0) {
        hak_free(block);
        return NULL;
    }
    size_t room = hak_classes[hak_class_of(block)].size;
    if (room == 0)
        return resize_large(block, size);
    if (HAK_HARDENED && !hak_mark_is_out(block))
        return resize_with_canary(block, size);
    return fits(room, size) ? block : move_small(block, size, room);
}

HAK_EXPORT HAK_HOT void *hak_realloc(void *block, size_t size) {
    size_t room = hak_classes[hak_class_in(&hak_ranges[0], block)].size;
    if (HAK_HARDENED && HAK_LIKELY(room != 0) && HAK_UNLIKELY(!hak_mark_is_out(block))) {
        HAK_NOT_A_CONDITIONAL_TAIL_CALL();
        return resize_with_canary(block, size);
    }
    if (HAK_LIKELY(fits(room, size)))
        return block;
    if (HAK_LIKELY(room != 0 && size != 0)) {
        HAK_NOT_A_CONDITIONAL_TAIL_CALL();
        return move_small(block, size, room);
    }
    HAK_NOT_A_CONDITIONAL_TAIL_CALL();
    return resize_odd(block, size);
}

HAK_EXPORT void *hak_reallocarray(void *block, size_t count, size_t size) {
    size_t bytes;
    return hak_product_overflows(count, size, &bytes) ? hak_refuse(SIZE_MAX)
                                                      : hak_realloc(block, bytes);
}

HAK_EXPORT size_t hak_malloc_usable_size(const void *block) {
    if (block == NULL)
        return 0;
    unsigned cls = hak_class_of(block);
    if (cls == HAK_CLASS_NONE)
        return hak_large_size(block, "malloc_usable_size");
    return HAK_HARDENED ? hak_canary_size("malloc_usable_size", block) : hak_classes[cls].size;
}

HAK_LIBC_NAMES(calloc)
HAK_LIBC_NAMES(realloc)
HAK_LIBC_NAME(reallocarray)
HAK_LIBC_NAME(malloc_usable_size)
