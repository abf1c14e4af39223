#include "front/sample.h"

#include "bin/bin.h"
#include "large/large.h"
#include "sampling/sites.h"
#include "thread/thread.h"

static _Atomic bool hints_used;

/* Either this thread sees that a heap profile began, or hak_sample_take sees the hint. So the load
 * acquires, too: what another thread has set may have been set after the profile began. */
bool hak_sample_lets_hint(void) {
    if (!atomic_load_explicit(&hints_used, memory_order_acquire))
        atomic_exchange(&hints_used, true);
    return !hak_sampling_ever();
}

static void *take_short(size_t size) {
    unsigned cls = hak_class_aligned(HAK_FIRST_COLD, HAK_CLASSES, size, HAK_MIN_ALIGN);
    if (cls == HAK_CLASSES || atomic_load(&hints_used))
        return NULL;
    hak_heap *heap = hak_thread_enter();
    void *block = heap != NULL ? hak_bin_take_alone(heap, cls) : NULL;
    hak_thread_leave(heap);
    return block;
}

void *hak_sample_take(size_t size) {
    void *block = take_short(size);
    if (block == NULL)
        return hak_large_sample(size);
    hak_sites_begin(block, size);
    return block;
}
