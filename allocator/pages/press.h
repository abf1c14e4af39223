/* Making room below the limits of memory. */
#pragma once

#include "pages/quota.h"

/* So many pages are wanted, by limits that may have changed: free ones that memory stands behind go
 * back to the system, as far as there would be too many. Waits for who purges only where the hard
 * limit is at stake. */
HAK_COLD void hak_press(size_t pages);
HAK_INLINE void hak_press_for(size_t pages) {
    hak_limit_look();
    if (hak_quota_is_near(pages))
        hak_press(pages);
}
