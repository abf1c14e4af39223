#include "cold/shed.h"

#include "base/classes.h"
#include "cold/arm.h"
#include "cold/slab.h"

enum {
    SPILLS = 2,        /* in a row, each with mallocs before it, after which a class sheds */
    LEAST_DEPTH = 8,   /* blocks of 8 KiB and less: of larger ones the system takes pages back */
    LOOKS = 16,        /* slabs among which the densest is looked for */
    BALANCE_SHARE = 8, /* it ends when all but 1/8 of what was freed is allocated again */
};

static void begin(hak_heap *heap, unsigned cls) {
    heap->sheds[cls] = true;
    hak_lead_malloc_away(heap, cls);
}

static void end(hak_heap *heap, unsigned cls) {
    heap->sheds[cls] = false;
    if (!heap->malloc_is_armed[cls])
        hak_lead_malloc_back(heap, cls);
}

void hak_shed_forget(hak_heap *heap, unsigned cls) {
    if (heap->sheds[cls])
        end(heap, cls);
    heap->spills[cls] = 0;
}

/* A burst of frees spills, too: there no malloc comes by between two spills. To see one, malloc is
 * armed. */
void hak_shed_note_spill(hak_heap *heap, unsigned cls, size_t blocks) {
    if (hak_classes[cls].depth < LEAST_DEPTH)
        return;
    heap->shed_left[cls] = (uint16_t)(blocks - blocks / BALANCE_SHARE);
    if (heap->sheds[cls])
        return;
    heap->spills[cls] = heap->malloc_came[cls] ? heap->spills[cls] + 1 : 0;
    heap->malloc_came[cls] = false;
    if (heap->spills[cls] >= SPILLS)
        begin(heap, cls);
    else
        hak_arm_malloc(heap, cls);
}

/* Moves the slab with the most blocks in use to the front. What was full until just now comes
 * first, and is as dense as any; but it is about to be freed as a whole where blocks go in the
 * order in which they came. */
static void choose_densest(hak_heap *heap, unsigned cls) {
    hak_slab *best = heap->partial[cls], *slab = best;
    for (int looks = 0; looks < LOOKS && slab != NULL; looks++, slab = slab->next)
        if (slab->used > best->used)
            best = slab;
    hak_slab_unlink(heap, best);
    hak_slab_link(heap, best);
    heap->shed_slab[cls] = best;
}

void *hak_shed_take(hak_heap *heap, unsigned cls) {
    void *block = NULL;
    heap->malloc_came[cls] = true;
    if (!heap->sheds[cls])
        return NULL;
    if (heap->partial[cls] == NULL || heap->shed_left[cls]-- == 0) {
        hak_shed_forget(heap, cls);
        return NULL;
    }
    if (heap->partial[cls] != heap->shed_slab[cls])
        choose_densest(heap, cls);
    hak_slab_take(heap, heap->partial[cls], &block, 1);
    return block;
}
