#include "magazine/mode.h"

#include "base/classes.h"
#include "magazine/arm.h"

/* A class stops shedding when all but 1/8 of what was freed is allocated again. */
enum { BALANCE_SHARE = 8 };

// clang-format off
static const uint8_t next[HAK_MODES][HAK_EVENTS] = {
    /*                 MALLOC_CAME   GAVE_BACK     BEGAN_ANEW */
    [HAK_CALM]     = { HAK_CALM,     HAK_SPILLED,  HAK_CALM },
    [HAK_SPILLED]  = { HAK_SERVED,   HAK_SPILLED,  HAK_CALM },
    [HAK_SERVED]   = { HAK_SERVED,   HAK_SHEDDING, HAK_CALM },
    [HAK_SHEDDING] = { HAK_SHEDDING, HAK_SHEDDING, HAK_CALM },
};
// clang-format on

/* A class sheds only where its magazine has the usual depth: a smaller one spills by chance. A
 * usual depth of fewer than 8 blocks has no eighth, and needs no shedding: such blocks are larger
 * than 8 KiB, and the system takes pages of them back. */
static bool may_shed(const hak_bin *bin, unsigned cls) {
    unsigned usual = hak_classes[cls].depth;
    return bin->mode == HAK_SHEDDING || (usual >= BALANCE_SHARE && bin->depth >= usual);
}

static void begin_to_shed(hak_heap *heap, unsigned cls) {
    heap->bins[cls].shed_left = 0;
    hak_lead_malloc_away(heap, cls);
}

void hak_mode_note(hak_heap *heap, unsigned cls, enum hak_event event) {
    hak_bin *bin = &heap->bins[cls];
    uint8_t was = bin->mode, now = next[was][event];
    if (now == HAK_SHEDDING && !may_shed(bin, cls))
        now = HAK_SPILLED;
    bin->mode = now;
    if (was != HAK_SHEDDING && now == HAK_SHEDDING)
        begin_to_shed(heap, cls);
    else if (was == HAK_SHEDDING && now != HAK_SHEDDING && !bin->malloc_is_armed)
        hak_lead_malloc_back(heap, cls);
}

/* What malloc still owes: a usual magazine at most. */
static void add_to_balance(hak_bin *bin, unsigned cls, size_t blocks) {
    size_t most = hak_classes[cls].depth;
    size_t left = bin->shed_left + blocks - (blocks + BALANCE_SHARE - 1) / BALANCE_SHARE;
    bin->shed_left = (uint16_t)(left < most ? left : most);
}

/* A burst of frees spills, too, but no malloc comes by between its spills. malloc is armed to see
 * whether one does. */
bool hak_mode_gave_back(hak_heap *heap, unsigned cls, size_t blocks) {
    hak_bin *bin = &heap->bins[cls];
    bool shed = bin->mode == HAK_SHEDDING;
    hak_mode_note(heap, cls, HAK_GAVE_BACK);
    if (bin->mode == HAK_SHEDDING)
        add_to_balance(bin, cls, blocks);
    else if (may_shed(bin, cls))
        hak_arm_malloc(heap, cls);
    return !shed && bin->mode == HAK_SHEDDING;
}

bool hak_mode_note_malloc(hak_heap *heap, unsigned cls) {
    hak_bin *bin = &heap->bins[cls];
    bool balanced = bin->mode == HAK_SHEDDING && bin->shed_left-- == 0;
    hak_mode_note(heap, cls, balanced ? HAK_BEGAN_ANEW : HAK_MALLOC_CAME);
    return bin->mode == HAK_SHEDDING;
}
