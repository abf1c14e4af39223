/* How much a block holds: asked before it is allocated, and widened where it lies. Programs that
 * grow arrays ask, so that they use what they have before they copy. */
#include "base/bits.h"
#include "base/classes.h"
#include "include/hakmem.h"
#include "large/large.h"
#include "os/os.h"
#include "pages/canaries.h"
#include "pages/range.h"

/* The size of the smallest class that holds `size` bytes, of which there is one. */
static size_t class_size(size_t size) {
    unsigned least = 1, most = HAK_LAST_SIZED;
    while (least < most) {
        unsigned middle = (least + most) / 2;
        if (hak_classes[middle].size < size)
            least = middle + 1;
        else
            most = middle;
    }
    return hak_classes[least].size;
}

HAK_EXPORT HAK_COLD size_t hak_good_size(size_t size) {
    if (size > PTRDIFF_MAX)
        return 0;
    size_t behind = hak_canary_bytes();
    return size + behind <= HAK_MEDIUM_MAX ? class_size(size + behind) - behind
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
