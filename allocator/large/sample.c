#include "large/block.h"

#include "pages/range.h"
#include "sampling/sampling.h"
#include "sampling/sites.h"

void hak_large_note_sample(void *block, size_t size) {
    hak_stack stack;
    hak_slab *run = hak_run_of(block);
    hak_stack_take(&stack);
    if (run != NULL)
        run->kind = HAK_RUN_SAMPLED;
    hak_sites_begin(block, size, &stack);
}

/* A block apart has no run to mark: the sites know whether it is a sample. */
void hak_large_end_sample(hak_slab *run, const void *block) {
    if (run != NULL && run->kind != HAK_RUN_SAMPLED)
        return;
    hak_sites_end(block);
    if (run != NULL)
        run->kind = HAK_RUN_LARGE;
}

bool hak_large_sample_is_due(size_t bytes) {
    hak_heap *heap = hak_large_enter();
    bool due = heap != NULL && hak_sampling_adopt(heap) && hak_sampling_is_due(heap, bytes);
    hak_large_leave(heap);
    return due;
}
