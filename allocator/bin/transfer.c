#include "bin/transfer.h"

#include "base/bits.h"
#include "base/classes.h"
#include "bin/give.h"
#include "pages/epoch.h"

#include <string.h>

/* As many blocks of a class wait as fit into 64 KiB, the usual depth of a magazine. Small blocks
 * never wait: they fill a cache before they fill memory. */
#define MOST_BLOCKS (HAK_MEDIUM_MAX / HAK_SMALL_MAX)

hak_lock hak_transfer_lock;
/* Written under the lock; counts are read without it, to see that there is nothing to do. They lie
 * by themselves: a process whose threads hand nothing over touches none of the rest. */
static _Atomic uint32_t counts[HAK_CLASSES];
static void *shelves[HAK_CLASSES][MOST_BLOCKS];

size_t hak_transfer_count(unsigned cls) {
    return atomic_load_explicit(&counts[cls], memory_order_relaxed);
}

static void set_count(unsigned cls, size_t count) {
    atomic_store_explicit(&counts[cls], (uint32_t)count, memory_order_relaxed);
}

static size_t room_for(unsigned cls) {
    size_t size = hak_classes[cls].size;
    return size <= HAK_SMALL_MAX ? 0 : HAK_MEDIUM_MAX / size;
}

size_t hak_transfer_put(unsigned cls, void *const *blocks, size_t count) {
    size_t room = room_for(cls);
    if (hak_transfer_count(cls) >= room || !hak_lock_try(&hak_transfer_lock))
        return 0;
    size_t there = hak_transfer_count(cls), put = there < room ? hak_least(count, room - there) : 0;
    memcpy(shelves[cls] + there, blocks, put * sizeof *blocks);
    set_count(cls, there + put);
    hak_lock_give(&hak_transfer_lock);
    hak_purge_expect(); /* they go home if nobody wants them */
    return put;
}

size_t hak_transfer_take(unsigned cls, void **blocks, size_t want) {
    if (hak_transfer_count(cls) == 0 || !hak_lock_try(&hak_transfer_lock))
        return 0;
    size_t there = hak_transfer_count(cls), taken = hak_least(want, there);
    memcpy(blocks, shelves[cls] + there - taken, taken * sizeof *blocks);
    set_count(cls, there - taken);
    hak_lock_give(&hak_transfer_lock);
    return taken;
}

void hak_transfer_empty(hak_heap *heap, unsigned cls) {
    void *blocks[MOST_BLOCKS];
    size_t taken = hak_transfer_take(cls, blocks, MOST_BLOCKS);
    if (taken != 0)
        hak_give_back(heap, cls, blocks, taken);
}

void hak_transfer_after_fork_in_child(void) {
    if (hak_lock_inherit(&hak_transfer_lock))
        for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
            set_count(cls, 0);
}
