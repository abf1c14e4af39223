#include "front/strict.h"

#include "base/classes.h"
#include "front/profile.h"
#include "front/retire.h"
#include "front/zero_freed.h"
#include "hot/magazine.h"
#include "pages/canaries.h"
#include "pages/range.h"
#include "sampling/sampling.h"

HAK_EARLY bool hak_is_strict;

/* Each malloc comes to the slow path, as where a heap is sampled: the classes of all sizes are
 * known there. */
static void lead_malloc_away(void) {
    hak_classes_fill(hak_counted_small, hak_counted_medium);
    hak_counting_changes();
    hak_profile_adopt();
}

void hak_strict_begin(void) {
    bool canaries = hak_canaries_begin();
    hak_zero_freed_begin();
    hak_is_strict = canaries || hak_zeroes_freed;
    if (canaries)
        lead_malloc_away();
}

void hak_free_strictly(void *block) {
    if (block == NULL)
        return;
    hak_canary_take(block);
    if (hak_zeroes_freed)
        hak_zero_freed(block);
    if (!hak_magazine_push(hak_this_thread.heap, hak_class_in(&hak_ranges[0], block), block))
        hak_retire(block);
}
