#include "cold/magazine.h"

#include "base/bits.h"
#include "base/classes.h"
#include "base/fatal.h"
#include "cold/arm.h"
#include "cold/range.h"
#include "cold/remote.h"
#include "cold/slab.h"
#include "os/os.h"

#include <string.h>

static void place(hak_heap *heap, unsigned cls, void **bottom, unsigned depth) {
    *bottom = NULL;
    heap->bottom[cls] = bottom;
    heap->depth[cls] = (uint16_t)depth;
    heap->end[cls] = bottom + depth;
}

void hak_magazines_lay_out(hak_heap *heap) {
    for (unsigned cls = 0; cls < HAK_CLASSES; cls++) {
        unsigned depth = hak_classes[cls].depth;
        place(heap, cls, heap->slots + (size_t)cls * (HAK_SMALL_DEPTH + 1),
              depth < HAK_SMALL_DEPTH ? depth : HAK_SMALL_DEPTH);
        heap->top[cls] = heap->bottom[cls];
    }
}

bool hak_magazine_grow(hak_heap *heap, unsigned cls) {
    const hak_class *of = &hak_classes[cls];
    if (heap->depth[cls] == of->depth)
        return false;
    size_t count = hak_magazine_count(heap, cls);
    void **from = heap->bottom[cls];
    void **to = heap->slots + (size_t)HAK_CLASSES * (HAK_SMALL_DEPTH + 1) + of->first_slot;
    memcpy(to + 1, from + 1, count * sizeof *to);
    place(heap, cls, to, of->depth);
    heap->top[cls] = to + count;
    return true;
}

size_t hak_magazines_purge(hak_heap *heap) {
    void **grown = heap->slots + (size_t)HAK_CLASSES * (HAK_SMALL_DEPTH + 1);
    uintptr_t from = hak_round_up((uintptr_t)grown, hak_os_page_size());
    uintptr_t to = hak_round_down((uintptr_t)(grown + HAK_MAGAZINE_SLOTS), hak_os_page_size());
    return from < to && hak_os_purge((void *)from, to - from) ? to - from : 0;
}

size_t hak_magazine_count(const hak_heap *heap, unsigned cls) {
    void *const *top = hak_is_armed(heap, cls) ? heap->held_top[cls] : heap->top[cls];
    size_t count = (size_t)(top - heap->bottom[cls]);
    return count <= heap->depth[cls] ? count
                                     : 0; /* another thread's magazine that moves just now */
}

HAK_INLINE void give_back(hak_heap *heap, unsigned cls, void *block, hak_chains *elsewhere) {
    hak_slab *slab = hak_run_of(block);
    if (HAK_UNLIKELY(slab->cls != cls))
        hak_slab_refuse(slab, block);
    hak_heap *owner = atomic_load_explicit(&slab->owner, memory_order_relaxed);
    if (owner == heap)
        hak_slab_put(heap, slab, block);
    else
        hak_chains_add(elsewhere, owner, block);
}

void hak_magazine_flush(hak_heap *heap, unsigned cls, size_t keep) {
    hak_disarm(heap, cls);
    void **first = heap->bottom[cls] + 1;
    size_t count = hak_magazine_count(heap, cls);
    if (count <= keep)
        return;
    hak_chains elsewhere = {0};
    for (void **each = first; each < first + (count - keep); each++)
        give_back(heap, cls, *each, &elsewhere);
    hak_chains_send(&elsewhere);
    memmove(first, first + (count - keep), keep * sizeof first[0]);
    heap->top[cls] = first + keep - 1;
}
