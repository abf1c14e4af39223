/* How much a block holds: asked before it is allocated, and widened where it lies. Programs that
 * grow arrays ask, so that they use what they have before they copy. */
#include "base/bits.h"
#include "base/classes.h"
#include "include/hakmem.h"
#include "large/large.h"
#include "os/os.h"
#include "pages/canaries.h"
#include "pages/range.h"

HAK_EXPORT HAK_COLD size_t hak_good_size(size_t size) {
    if (size > PTRDIFF_MAX)
        return 0;
    size_t behind = hak_canary_bytes(), whole = size + behind;
    return whole <= HAK_MEDIUM_MAX ? hak_classes[hak_class_by_search(whole)].size - behind
                                   : hak_round_up(size, hak_os_page_size());
}

/* A wrapped build keeps bytes of its own behind a block, or does not know its owner: nothing is
 * widened there. */
HAK_EXPORT HAK_COLD size_t hak_resize_in_place(void *block, size_t size) {
    bool may_grow = HAK_GUARD + HAK_RESEARCH == 0 && block != NULL;
    if (may_grow && hak_class_of(block) == HAK_CLASS_NONE)
        return hak_large_widen(block, size);
    return hak_malloc_usable_size(block);
}
