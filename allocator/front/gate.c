/* The gate: libc's names -> size class -> magazine. One table, one decision.
 *
 *   malloc(n)                                free(p)
 *     n <= 2 KiB: class by table               class of p's page, 0 when it is large
 *       pop ................ return            push ................ return
 *       empty: hak_refill                      full, NULL, large, elsewhere: hak_retire
 *     n <= 64 KiB: the same, one call further
 *     beyond: hak_large_malloc */
#include "front/cxx.h"
#include "front/doors.h"
#include "front/strict.h"
#include "hot/magazine.h"
#include "include/hakmem.h"
#include "pages/range.h"
#include "stats/slowdown.h"
#include "thread/thread.h"

extern HAK_HIDDEN void hak_relatives(void); /* front/relatives.c */

HAK_EXPORT HAK_HOT void *hak_malloc(size_t size) {
    hak_slow_down();
    if (HAK_LIKELY(size <= HAK_SMALL_MAX)) {
        void *block = hak_take_small(size);
        if (HAK_LIKELY(block != NULL))
            return block;
        HAK_NOT_A_CONDITIONAL_TAIL_CALL();
        return hak_refill(size);
    }
    HAK_NOT_A_CONDITIONAL_TAIL_CALL();
    return hak_malloc_medium(size);
}

HAK_EXPORT HAK_HOT void hak_free(void *block) {
    hak_heap *heap = hak_this_thread.heap;
    unsigned cls;
    if (HAK_LIKELY(hak_class_at_free(block, &cls)) &&
        HAK_LIKELY(hak_magazine_push(heap, cls, block)))
        return;
    HAK_NOT_A_CONDITIONAL_TAIL_CALL();
    if (HAK_HARDENED)
        hak_free_strictly(block, heap);
    else
        hak_retire(block, heap);
}

HAK_LIBC_NAMES(malloc)
HAK_LIBC_NAMES(free)
HAK_LIBC_ALIAS(cfree, hak_free)

/* In a static library each file is a member of its own, and the linker takes those that somebody
 * asks for. Half of the family from here and half from libc would be the end of the program, so
 * whoever asks for malloc or free gets all of it. */
typedef void (*any_function)(void);
static HAK_USED const any_function whole_family[] = {
    (any_function)hak_calloc,
    (any_function)hak_aligned_alloc,
    (any_function)hak_malloc_stats,
    (any_function)hak_cxx_new,
    hak_relatives,
};
