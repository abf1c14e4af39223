#include "pages/pass.h"

#include "pages/segment.h"

void hak_pass_close(void) {
    hak_pass *pass = hak_ranges[0].pass;
    hak_lock_take(&hak_segment_lock);
    pass->is_closed = true;
    __atomic_store_n(&pass->grains, 0, __ATOMIC_RELEASE);
    hak_lock_give(&hak_segment_lock);
}
