#include "guard/keep.h"

#include "front/core.h"
#include "guard/fence.h"
#include "guard/quarantine.h"
#include "guard/refuse.h"
#include "os/fault.h"
#include "os/os.h"
#include "trap/canary.h"

#include <string.h>

/* What a freed block is filled with: read as a pointer it is none of x86-64's. */
enum { FREED = 0xdb };

static void check_pattern(unsigned cls, hak_place place, hak_facts facts) {
    if (cls == HAK_CLASS_NONE)
        return;
    size_t room = hak_place_room(place.run);
    size_t at = hak_first_other(place.start, FREED, room);
    if (HAK_UNLIKELY(at != room))
        hak_refuse_written(place.start + hak_front_of(place.run, facts), "free", facts,
                           place.start + at);
}

bool hak_stays(unsigned cls, void *start) {
    hak_place place = hak_place_at(start);
    check_pattern(cls, place, atomic_load_explicit(place.record, memory_order_relaxed));
    return true;
}

/* Gives a block from the quarantine back to the core. If the system refuses to make the pages of a
 * large block accessible again, the block is never used again. */
void hak_let_go(unsigned cls, void *start) {
    hak_place place = hak_place_at(start);
    hak_facts facts = atomic_load_explicit(place.record, memory_order_relaxed);
    check_pattern(cls, place, facts);
    if (hak_is_large(place.run) && !hak_fence_take(place.run))
        return;
    facts.life = HAK_GONE;
    atomic_store_explicit(place.record, facts, memory_order_release);
    hak_core_free(start);
}

/* Takes the memory of a large block, and access to it: whoever touches it now faults. True: both
 * worked. */
static bool seal(const hak_slab *run) {
    return hak_os_purge((void *)run->start, hak_place_size(run)) &&
           hak_os_protect((void *)run->start, hak_place_size(run));
}

void hak_keep(const hak_slab *run, void *start) {
    unsigned cls = run->cls;
    if (!hak_is_large(run))
        memset(start, FREED, hak_place_room(run));
    bool stays = hak_keeps(cls) && (!hak_is_large(run) || seal(run));
    void *other = stays ? hak_keep_back(cls, start) : start;
    if (other != NULL)
        hak_let_go(cls, other);
}
