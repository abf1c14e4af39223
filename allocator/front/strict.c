#include "front/strict.h"

#include "base/classes.h"
#include "front/profile.h"
#include "front/doors.h"
#include "hot/magazine.h"
#include "large/large.h"
#include "os/os.h"
#include "pages/canaries.h"
#include "pages/excess.h"
#include "pages/mark.h"
#include "pages/range.h"
#include "policy/policy.h"
#include "sampling/sampling.h"

#include <string.h>

HAK_EARLY bool hak_zeroes_freed;
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
    hak_zeroes_freed = hak_policy_now()->zero_freed != 0;
    is_strict = canaries || hak_zeroes_freed;
    if (is_strict)
        hak_pass_close();
    if (canaries)
        lead_malloc_away();
}

/* A pointer to no block ends the program. */
static size_t size_to_zero(const void *block) {
    unsigned cls = hak_class_of(block);
    if (cls == HAK_CLASS_NONE)
        return hak_large_size(block, "free");
    hak_mark_must_be_out("free", block);
    return hak_classes[cls].size;
}

static HAK_DOOR void zero_freed(void *block) {
    size_t size = size_to_zero(block);
    if (size >> HAK_PAGE_SHIFT < HAK_HUGE_PAGES || !hak_os_purge(block, size))
        memset(block, 0, size);
}

/* Whether the block is in its magazine now. */
static bool push(hak_heap *heap, void *block) {
    return hak_is_at_grain(block) &&
           hak_magazine_push(heap, hak_class_in(&hak_ranges[0], block), block);
}

static inline bool free_by_options(hak_heap *heap, void *block) {
    hak_canary_take(block);
    if (hak_zeroes_freed)
        zero_freed(block);
    return push(heap, block);
}

void hak_free_strictly(void *block, hak_heap *heap) {
    if (HAK_UNLIKELY(is_strict) && (block == NULL || free_by_options(heap, block)))
        return;
    HAK_NOT_A_CONDITIONAL_TAIL_CALL();
    hak_retire(block, heap);
}
