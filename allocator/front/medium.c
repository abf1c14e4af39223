/* malloc beyond the small classes: classes of medium blocks, and large ones. */
#include "front/doors.h"
#include "hot/magazine.h"
#include "large/large.h"
#include "thread/thread.h"

HAK_HOT HAK_DOOR void *hak_malloc_medium(size_t size) {
    if (size > HAK_MEDIUM_MAX) {
        HAK_NOT_A_CONDITIONAL_TAIL_CALL();
        return hak_large_malloc(size);
    }
    hak_heap *heap = hak_this_thread.heap;
    unsigned cls = heap->class_of_medium[(size + 255) >> HAK_MEDIUM_STEP_SHIFT];
    void *block = hak_magazine_pop(heap, cls, size);
    if (HAK_LIKELY(block != NULL))
        return block;
    HAK_NOT_A_CONDITIONAL_TAIL_CALL();
    return hak_refill(size);
}
