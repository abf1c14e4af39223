#include "magazine/mode.h"

#include "base/classes.h"
#include "magazine/arm.h"

/* A class that sheds fills one slab, and others run empty. So it sheds where at least so many slabs
 * of blocks went back since its magazine ran empty last. Fewer go and come again by chance. */
enum { SLABS_WORTH = 2 };

// clang-format off
static const uint8_t next[HAK_MODES][HAK_EVENTS] = {
    /*                 MALLOC_CAME   GAVE_BACK     BEGAN_ANEW */
    [HAK_CALM]     = { HAK_CALM,     HAK_SPILLED,  HAK_CALM },
    [HAK_SPILLED]  = { HAK_SERVED,   HAK_SPILLED,  HAK_CALM },
    [HAK_SERVED]   = { HAK_SERVED,   HAK_SHEDDING, HAK_CALM },
    [HAK_SHEDDING] = { HAK_SHEDDING, HAK_SHEDDING, HAK_CALM },
};
// clang-format on

static size_t worth_it(unsigned cls) {
    return (size_t)SLABS_WORTH * hak_classes[cls].capacity;
}

static bool may_shed(const hak_bin *bin, unsigned cls) {
    return bin->mode == HAK_SHEDDING || bin->gave_back >= worth_it(cls);
}

static void begin_to_shed(hak_heap *heap, unsigned cls) {
    heap->bins[cls].gave_back = 0;
    hak_lead_malloc_away(heap, cls);
}

void hak_mode_note(hak_heap *heap, unsigned cls, enum hak_event event) {
    hak_bin *bin = &heap->bins[cls];
    uint8_t was = bin->mode, now = next[was][event];
    if (now == HAK_SHEDDING && !may_shed(bin, cls))
        now = HAK_SPILLED;
    bin->mode = now;
    if (now == HAK_CALM)
        bin->gave_back = 0;
    if (was != HAK_SHEDDING && now == HAK_SHEDDING)
        begin_to_shed(heap, cls);
    else if (was == HAK_SHEDDING && now != HAK_SHEDDING && !bin->malloc_is_armed)
        hak_lead_malloc_back(heap, cls);
}

/* Of a class that sheds, what malloc still owes: a usual magazine at most. */
static void count_back(hak_bin *bin, unsigned cls, size_t blocks) {
    size_t most = bin->mode == HAK_SHEDDING ? hak_classes[cls].depth : worth_it(cls);
    size_t count = bin->gave_back + blocks;
    bin->gave_back = (uint16_t)(count < most ? count : most);
}

/* A burst of frees spills, too, but no malloc comes by between its spills. malloc is armed to see
 * whether one does. */
bool hak_mode_gave_back(hak_heap *heap, unsigned cls, size_t blocks) {
    hak_bin *bin = &heap->bins[cls];
    bool shed = bin->mode == HAK_SHEDDING;
    hak_mode_note(heap, cls, HAK_GAVE_BACK);
    count_back(bin, cls, blocks);
    bool sheds = bin->mode == HAK_SHEDDING;
    if (!sheds && may_shed(bin, cls))
        hak_arm_malloc(heap, cls);
    return !shed && sheds;
}

bool hak_mode_note_malloc(hak_heap *heap, unsigned cls) {
    hak_bin *bin = &heap->bins[cls];
    bool balanced = bin->mode == HAK_SHEDDING && bin->gave_back-- == 0;
    hak_mode_note(heap, cls, balanced ? HAK_BEGAN_ANEW : HAK_MALLOC_CAME);
    return bin->mode == HAK_SHEDDING;
}
