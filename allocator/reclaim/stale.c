#include "reclaim/stale.h"

#include "bin/bin.h"
#include "magazine/arm.h"
#include "magazine/magazine.h"
#include "pages/run_cache.h"
#include "slab/slab.h"

/* A magazine that looks at the clock goes on doing so. */
static void flush(hak_heap *heap, unsigned cls) {
    bool was_armed = hak_is_armed(heap, cls);
    hak_bin_flush(heap, cls);
    if (was_armed)
        hak_arm_class(heap, cls);
}

/* A magazine that was used, and by chance holds as many blocks as before, costs a refill. */
static void look_at(hak_heap *heap, unsigned cls) {
    size_t count = hak_magazine_count(heap, cls);
    if (count == heap->bins[cls].stood_at) {
        if (count != 0)
            flush(heap, cls);
        hak_slab_release_empty(heap, cls);
    }
    heap->bins[cls].stood_at = (uint16_t)hak_magazine_count(heap, cls);
}

void hak_stale_look(hak_heap *heap, uint64_t now) {
    heap->took = false;
    if (now == heap->looked_at_ms)
        return;
    heap->looked_at_ms = now;
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        look_at(heap, cls);
    hak_run_cache_empty(heap, false);
}
