#include "magazine/shed.h"

#include "base/classes.h"
#include "magazine/arm.h"

enum {
    SPILLS = 2,        /* in a row, each with mallocs before it, after which a class sheds */
    LEAST_DEPTH = 8,   /* blocks of 8 KiB and less: of larger ones the system takes pages back */
    DEPTH_SHARE = 4,   /* of the usual depth, while it sheds; ... */
    LEAST_SLOTS = 4,   /* ... at least */
    BALANCE_SHARE = 8, /* it ends when all but 1/8 of what was freed is allocated again, ... */
    LEAST_BALANCE = 16 /* ... counted over so many blocks at least, and a whole magazine */
};

unsigned hak_shed_depth(unsigned cls) {
    unsigned part = hak_classes[cls].depth / DEPTH_SHARE;
    return part > LEAST_SLOTS ? part : LEAST_SLOTS;
}

static uint16_t most_left(unsigned cls) {
    unsigned depth = hak_classes[cls].depth;
    return (uint16_t)(depth > LEAST_BALANCE ? depth : LEAST_BALANCE);
}

static void begin(hak_heap *heap, unsigned cls) {
    heap->bins[cls].sheds = true;
    heap->bins[cls].shed_left = 0;
    hak_lead_malloc_away(heap, cls);
}

static void end(hak_heap *heap, unsigned cls) {
    heap->bins[cls].sheds = false;
    if (!heap->bins[cls].malloc_is_armed)
        hak_lead_malloc_back(heap, cls);
}

void hak_shed_forget(hak_heap *heap, unsigned cls) {
    if (heap->bins[cls].sheds)
        end(heap, cls);
    heap->bins[cls].spills = 0;
}

static void go_on(hak_heap *heap, unsigned cls, size_t blocks) {
    size_t left = heap->bins[cls].shed_left + blocks - (blocks + BALANCE_SHARE - 1) / BALANCE_SHARE,
           most = most_left(cls);
    heap->bins[cls].shed_left = (uint16_t)(left < most ? left : most);
}

/* A burst of frees spills, too: there no malloc comes by between two spills. To see one, malloc is
 * armed. */
static bool is_time_to_begin(hak_heap *heap, unsigned cls) {
    heap->bins[cls].spills = heap->bins[cls].malloc_came ? heap->bins[cls].spills + 1 : 0;
    heap->bins[cls].malloc_came = false;
    bool begins = heap->bins[cls].spills >= SPILLS;
    if (!begins)
        hak_arm_malloc(heap, cls);
    return begins;
}

bool hak_shed_note_spill(hak_heap *heap, unsigned cls, size_t blocks) {
    unsigned usual = hak_classes[cls].depth;
    if (usual < LEAST_DEPTH || (!heap->bins[cls].sheds && heap->bins[cls].depth < usual))
        return false;
    bool begins = !heap->bins[cls].sheds && is_time_to_begin(heap, cls);
    if (begins)
        begin(heap, cls);
    if (heap->bins[cls].sheds)
        go_on(heap, cls, blocks);
    return begins;
}

bool hak_shed_wants(hak_heap *heap, unsigned cls) {
    heap->bins[cls].malloc_came = true;
    if (heap->bins[cls].sheds && heap->bins[cls].shed_left-- == 0)
        hak_shed_forget(heap, cls);
    return heap->bins[cls].sheds;
}
