#include "cold/list.h"

#include "base/classes.h"
#include "base/fatal.h"
#include "cold/give.h"
#include "cold/heap.h"
#include "cold/remote.h"
#include "cold/slab.h"
#include "hot/list.h"

void hak_lists_lay_out(hak_heap *heap) {
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        if (hak_is_list(cls))
            heap->list_room[cls] = hak_classes[cls].depth;
}

static void fill(hak_heap *heap, unsigned cls, hak_slab *slab) {
    void *blocks[HAK_LIST_BATCH];
    size_t want = heap->list_room[cls] < HAK_LIST_BATCH ? heap->list_room[cls] : HAK_LIST_BATCH;
    for (size_t taken = hak_slab_take(heap, slab, blocks, want), i = 0; i < taken; i++)
        hak_list_push(heap, cls, blocks[i]);
}

void *hak_list_take(hak_heap *heap, unsigned cls) {
    hak_remote_drain(heap);
    void *block = hak_list_pop(heap, cls);
    if (block != NULL)
        return block;
    hak_slab *slab = hak_heap_slab(heap, cls);
    if (slab == NULL)
        return NULL;
    fill(heap, cls, slab);
    return hak_list_pop(heap, cls);
}

/* The blocks freed last go: a list is reached from there alone. */
static void give_back(hak_heap *heap, unsigned cls, size_t count) {
    while (count > 0) {
        void *blocks[HAK_LIST_BATCH];
        size_t some = 0;
        for (; some < HAK_LIST_BATCH && some < count; some++)
            blocks[some] = hak_list_pop(heap, cls);
        hak_give_back(heap, cls, blocks, some);
        count -= some;
    }
}

void hak_list_give(hak_heap *heap, unsigned cls, void *block) {
    if (HAK_UNLIKELY((void *)heap->list[cls] == block))
        hak_fatal("double free", "free", block, "it is the block freed last");
    if (heap->list_room[cls] == 0)
        give_back(heap, cls, hak_list_count(heap, cls) / 2 + 1);
    hak_list_push(heap, cls, block);
}

void hak_list_flush(hak_heap *heap, unsigned cls) {
    give_back(heap, cls, hak_list_count(heap, cls));
}

size_t hak_list_count(const hak_heap *heap, unsigned cls) {
    return (size_t)hak_classes[cls].depth - heap->list_room[cls];
}
