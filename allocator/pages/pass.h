/* What free asks of the first range before it takes its usual way. In hardened builds one compare
 * finds foreign pointers and those that are no multiple of a grain. While an option asks for
 * something at each free, the pass is closed: then the same compare leads each to the slow path. */
#pragma once

#include "pages/range.h"

HAK_INLINE unsigned hak_class_at_free(const void *p) {
    const hak_range *r = &hak_ranges[0];
    if (!HAK_HARDENED)
        return hak_class_in(r, p);
    size_t grain = hak_grain(p) - r->pass->first;
    if (HAK_UNLIKELY(grain >= HAK_READ_GROWING(r->pass->grains)))
        return HAK_CLASS_NONE;
    return r->classes[grain >> (HAK_PAGE_SHIFT - HAK_GRAIN_SHIFT)];
}

/* For good. Otherwise it widens as the tables grow (pages/tables.c). */
void hak_pass_close(void);
