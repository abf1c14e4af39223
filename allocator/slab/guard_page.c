#include "slab/guard_page.h"

#include "base/classes.h"
#include "os/fault.h"
#include "os/os.h"
#include "pages/dense.h"
#include "policy/policy.h"

static _Atomic size_t closed;

/* Under a limit of private memory a closed page no longer counts, and opens again only where there
 * is room for it: a slab that has ended might not be able to go back. */
size_t hak_guard_pages(unsigned cls) {
    bool wanted = hak_policy_now()->guard_slabs != 0 && hak_classes[cls].pages > 1;
    return wanted && atomic_load_explicit(&closed, memory_order_relaxed) < HAK_MOST_WALLS &&
           !hak_os_is_private_limited();
}

static void *last_page(const hak_slab *slab) {
    return (void *)(slab->start + ((size_t)(slab->pages - 1) << HAK_PAGE_SHIFT));
}

/* What an earlier run left there would be memory that nobody can use. */
void hak_guard_page_close(hak_slab *slab, bool zeroed) {
    hak_dense_leave_run(slab);
    if (!zeroed)
        hak_os_purge(last_page(slab), HAK_PAGE_SIZE);
    slab->guarded = hak_os_protect(last_page(slab), HAK_PAGE_SIZE);
    atomic_fetch_add_explicit(&closed, slab->guarded, memory_order_relaxed);
}

bool hak_guard_page_open(hak_slab *slab) {
    if (slab->guarded && !hak_os_unprotect(last_page(slab), HAK_PAGE_SIZE))
        return false;
    atomic_fetch_sub_explicit(&closed, slab->guarded, memory_order_relaxed);
    slab->guarded = false;
    return true;
}
