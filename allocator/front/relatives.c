/* Functions that call others of the family with other arguments, alike in all variants. */
#include "base/bits.h"
#include "base/classes.h"
#include "guard/guard.h"
#include "include/hakmem.h"
#include "large/large.h"
#include "os/os.h"
#include "pages/canaries.h"
#include "pages/range.h"
#include "stats/stats.h"

/* What the gate refers to, so that a static link takes this file too. */
void hak_relatives(void);
void hak_relatives(void) {}

HAK_EXPORT void *hak_valloc(size_t size) {
    return hak_memalign(hak_os_page_size(), size);
}

HAK_EXPORT void *hak_pvalloc(size_t size) {
    if (size > PTRDIFF_MAX)
        return hak_refuse(size);
    return hak_valloc(hak_round_up(size != 0 ? size : 1, hak_os_page_size()));
}

HAK_EXPORT void hak_free_sized(void *block, size_t size) {
    hak_free_as(block, &(hak_free_call){"free_sized", size, 1, HAK_FROM_MALLOC});
}

HAK_EXPORT void hak_free_aligned_sized(void *block, size_t alignment, size_t size) {
    hak_free_as(block, &(hak_free_call){"free_aligned_sized", size, alignment, HAK_FROM_MALLOC});
}

/* ---- how much a block holds: programs that grow arrays use what they have before they copy ----
 */

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

HAK_LIBC_NAMES(valloc)
HAK_LIBC_NAMES(pvalloc)
HAK_LIBC_NAME(free_sized)
HAK_LIBC_NAME(free_aligned_sized)
