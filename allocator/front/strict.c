#include "front/strict.h"

#include "base/classes.h"
#include "front/profile.h"
#include "front/retire.h"
#include "front/zero_freed.h"
#include "hot/magazine.h"
#include "pages/canaries.h"
#include "pages/pass.h"
#include "pages/range.h"
#include "sampling/sampling.h"

static HAK_EARLY bool is_strict; /* set once, at load */

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
    is_strict = canaries || hak_zeroes_freed;
    if (is_strict)
        hak_pass_close();
    if (canaries)
        lead_malloc_away();
}

/* Whether the block is in its magazine now. */
static bool push(hak_heap *heap, void *block) {
    return hak_is_at_grain(block) &&
           hak_magazine_push(heap, hak_class_in(&hak_ranges[0], block), block);
}

static inline bool free_by_options(hak_heap *heap, void *block) {
    hak_canary_take(block);
    if (hak_zeroes_freed)
        hak_zero_freed(block);
    return push(heap, block);
}

void hak_free_strictly(void *block, hak_heap *heap) {
    if (HAK_UNLIKELY(is_strict) && (block == NULL || free_by_options(heap, block)))
        return;
    HAK_NOT_A_CONDITIONAL_TAIL_CALL();
    hak_retire(block, heap);
}
