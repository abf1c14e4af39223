#include "base/bits.h"
#include "front/core.h"
#include "guard/alive.h"
#include "guard/fence.h"
#include "guard/guard.h"
#include "guard/quarantine.h"
#include "guard/record.h"
#include "guard/refuse.h"
#include "os/fault.h"
#include "os/lock.h"
#include "os/os.h"
#include "pages/range.h"
#include "policy/policy.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* ---- start ---- */

static void set_up(void) {
    hak_policy_start(environ);
    hak_quarantine_set_up();
    if (hak_policy_now()->guard_faults != 0)
        hak_os_watch_faults(hak_explain_fault);
}

/* Reads the options before the first block is made. They say where canaries end, so they must be
 * the same at the malloc of a block and at its free. Threads that allocate meanwhile wait here. */
static void start(void) {
    static hak_lock lock;
    static _Atomic bool started;
    if (HAK_LIKELY(atomic_load_explicit(&started, memory_order_acquire)) || environ == NULL)
        return;
    hak_lock_take(&lock);
    if (!atomic_load_explicit(&started, memory_order_relaxed))
        set_up();
    atomic_store_explicit(&started, true, memory_order_release);
    hak_lock_give(&lock);
}

/* ---- what to ask the core for ---- */

/* The program says what alignment it wants; the core takes the next power of two. */
static unsigned alignment_bit(const hak_wish *wish) {
    return wish->alignment > 1 ? hak_highest_bit(wish->alignment - 1) + 1 : 0;
}

static hak_facts facts_for(const hak_wish *wish) {
    return (hak_facts){.life = HAK_IN_USE,
                       .family = wish->family & 3u,
                       .alignment = alignment_bit(wish) & 63u,
                       .size = wish->size & ((UINT64_C(1) << 48) - 1)};
}

/* Blocks of no bytes may not be touched at all; with HAKMEM_GUARD_PAGES each block has pages of its
 * own, which fault after its free, as long as there are mappings. More alignment than a page leaves
 * no room in front. */
static bool wants_pages(const hak_wish *wish) {
    bool each = hak_policy_now()->guard_pages != 0;
    return (wish->size == 0 || each) && wish->size <= HAK_MEDIUM_MAX &&
           wish->alignment <= hak_os_page_size() && hak_fence_has_walls();
}

/* What is added to a size: room for the canary on both sides, the wall, and what it may grow by. */
static size_t extra(const hak_wish *wish) {
    size_t page = hak_os_page_size(), front = (size_t)1 << alignment_bit(wish);
    size_t more = wish->spare + hak_policy_now()->guard_canary;
    more += front > HAK_MIN_ALIGN && front <= page ? front : HAK_MIN_ALIGN;
    return more + (wants_pages(wish) || wish->size > HAK_MEDIUM_MAX ? page : 0);
}

/* Nothing is added to what no system can grant: the sum could wrap around. */
static size_t padded(const hak_wish *wish) {
    if (wish->size > PTRDIFF_MAX || wish->alignment > PTRDIFF_MAX)
        return wish->size;
    size_t size = wish->size + extra(wish);
    return wants_pages(wish) && size <= HAK_MEDIUM_MAX ? HAK_MEDIUM_MAX + 1 : size;
}

static void *serve(const hak_wish *wish, size_t size) {
    return wish->from != NULL ? wish->from(wish->alignment, size) : hak_core_malloc(size);
}

static void *ask(const hak_wish *wish, size_t size) {
    void *start = serve(wish, size);
    if (start != NULL || errno != ENOMEM || wish->size > PTRDIFF_MAX)
        return start;
    hak_kept_look(true);
    return serve(wish, size);
}

/* A block may come as a large one although its size seemed small. It then needs one more page for
 * its wall, and is asked for again. */
static void *obtain(const hak_wish *wish) {
    size_t size = padded(wish);
    void *start = ask(wish, size);
    if (start == NULL || hak_fence_fits(hak_run_of(start), facts_for(wish)))
        return start;
    hak_core_free(start);
    return ask(wish, size + hak_os_page_size());
}

/* Exchanges the block for a random one of its class. A block with more than the usual alignment is
 * kept, since another one of the class may have less. */
static void *obtain_at_random(const hak_wish *wish) {
    for (;;) {
        void *start = obtain(wish);
        if (start == NULL || wish->alignment > HAK_MIN_ALIGN)
            return start;
        void *other = hak_shuffle(hak_run_of(start)->cls, start);
        if (other != NULL)
            return other;
    }
}

void *hak_guard_allocate(const hak_wish *wish) {
    start();
    char *first = obtain_at_random(wish);
    if (first == NULL)
        return NULL;
    hak_place place = hak_place_at(first);
    hak_facts facts = facts_for(wish);
    char *block = first + hak_front_of(place.run, facts);
    if (wish->zero)
        memset(block, 0, wish->size);
    hak_fence_put(place.run, first, facts);
    facts.turn = (atomic_load_explicit(place.record, memory_order_relaxed).turn + 1u) & 63u;
    if (HAK_UNLIKELY(atomic_load_explicit(&hak_alive_noted, memory_order_acquire)))
        hak_alive_note(place);
    atomic_store_explicit(place.record, facts, memory_order_release);
    return block;
}
