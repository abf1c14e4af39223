#include "cold/page.h"

#include "base/bits.h"
#include "base/classes.h"
#include "cold/heap.h"
#include "cold/remote.h"
#include "cold/slab.h"
#include "cold/ultra.h"
#include "hot/page.h"
#include "pages/range.h"

void *hak_page_take(hak_heap *heap, unsigned cls) {
    hak_remote_drain(heap);
    hak_slab *slab = hak_heap_slab(heap, cls);
    if (slab == NULL)
        return NULL;
    unsigned first;
    heap->word[cls] = hak_slab_take_word(heap, slab, &first);
    heap->word_start[cls] = (char *)slab->start + (size_t)first * hak_classes[cls].size;
    return hak_page_pop(heap, cls);
}

void hak_page_give(hak_heap *heap, unsigned cls, void *block) {
    hak_slab *slab = hak_run_of(block);
    if (hak_owner_of(block) == hak_owner_word(heap, cls))
        hak_slab_put(heap, slab, block);
    else
        hak_ultra_give(heap, cls, block);
}

void hak_page_flush(hak_heap *heap, unsigned cls) {
    for (void *block; (block = hak_page_pop(heap, cls)) != NULL;)
        hak_slab_put(heap, hak_run_of(block), block);
    hak_ultra_flush(heap, cls);
}

size_t hak_page_count(const hak_heap *heap, unsigned cls) {
    return hak_count_bits(heap->word[cls]);
}
