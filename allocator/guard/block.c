#include "guard/block.h"

#include "base/bits.h"
#include "front/core.h"
#include "guard/pattern.h"
#include "guard/quarantine.h"
#include "guard/record.h"
#include "guard/refuse.h"
#include "os/fault.h"
#include "os/lock.h"
#include "os/os.h"
#include "pages/range.h"
#include "policy/policy.h"

#include <errno.h>
#include <unistd.h>

/* ---- start ---- */

static void set_up(void) {
    hak_policy_start(environ);
    hak_quarantine_set_up();
    if (hak_policy_now()->guard_faults != 0)
        hak_os_watch_faults(hak_explain_fault);
}

/* Reads the options before the first block is made. They say where canaries end, so they must be
 * the same at the malloc of a block and at its free. Threads that come first at once wait here. */
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

/* ---- the end of a block: canary, and a wall behind large ones ---- */

static bool is_large(const hak_slab *run) {
    return run->kind == HAK_RUN_LARGE;
}

/* Where the canary of a block of `size` bytes ends, counted from its start. */
static size_t end_of(const hak_slab *run, size_t size) {
    if (!is_large(run))
        return hak_place_room(run);
    return hak_round_up(size + hak_policy_now()->guard_canary, hak_os_page_size());
}

static bool fits(const hak_slab *run, size_t size) {
    size_t room = hak_place_room(run), canary = hak_policy_now()->guard_canary;
    return size < room && room - size >= canary && end_of(run, size) <= room;
}

/* Writes the canary, and puts a wall of inaccessible pages behind a large block. The system may
 * refuse one more mapping: then the block has no wall. */
static void fence(const hak_slab *run, void *block, size_t size) {
    size_t end = end_of(run, size);
    memset((char *)block + size, hak_canary(block), end - size);
    if (is_large(run))
        hak_os_protect((char *)block + end, hak_place_size(run) - end);
}

static bool unfence(const hak_slab *run) {
    return hak_os_unprotect((void *)run->start, hak_place_size(run));
}

static bool is_still(hak_place place, hak_facts facts) {
    hak_facts now = atomic_load_explicit(place.record, memory_order_acquire);
    return memcmp(&now, &facts, sizeof now) == 0;
}

/* Another thread may free the block meanwhile, and its slab may go back to its segment. Pages
 * without a slab have room for 0 bytes. So an end that lies before the size of the block says that
 * this has happened. */
size_t hak_find_overflow(hak_place place, const void *block, hak_facts facts) {
    size_t end = end_of(place.run, facts.size);
    if (HAK_UNLIKELY(end < facts.size))
        return HAK_NO_OVERFLOW;
    size_t length = end - facts.size;
    size_t at = hak_first_other((const char *)block + facts.size, hak_canary(block), length);
    bool is_damaged = HAK_UNLIKELY(at != length) && is_still(place, facts);
    return is_damaged ? facts.size + at : HAK_NO_OVERFLOW;
}

static void check_fence(hak_place place, const void *block, const char *function, hak_facts facts) {
    size_t at = hak_find_overflow(place, block, facts);
    if (HAK_UNLIKELY(at != HAK_NO_OVERFLOW))
        hak_refuse_overflow(block, function, facts, at);
}

/* ---- back to the core ---- */

static void check_pattern(unsigned cls, const void *block, hak_facts facts) {
    size_t room = hak_place_room(hak_run_of(block));
    size_t at = cls != HAK_CLASS_NONE ? hak_first_other(block, HAK_FREED_BYTE, room) : room;
    if (HAK_UNLIKELY(at != room))
        hak_refuse_written(block, "free", facts, at);
}

bool hak_stays(unsigned cls, void *block) {
    check_pattern(cls, block,
                  atomic_load_explicit(hak_place_of(block).record, memory_order_relaxed));
    return true;
}

/* Gives a block from the quarantine back to the core. If the system refuses to make the pages of a
 * large block accessible again, the block is never used again. */
void hak_let_go(unsigned cls, void *block) {
    hak_place place = hak_place_of(block);
    hak_facts facts = atomic_load_explicit(place.record, memory_order_relaxed);
    check_pattern(cls, block, facts);
    if (is_large(place.run) && !unfence(place.run))
        return;
    facts.life = HAK_GONE;
    atomic_store_explicit(place.record, facts, memory_order_release);
    hak_core_free(block);
}

/* Takes the memory of a large block, and access to it: whoever touches it now faults. True: both
 * worked. */
static bool seal(const hak_slab *run) {
    return hak_os_purge((void *)run->start, hak_place_size(run)) &&
           hak_os_protect((void *)run->start, hak_place_size(run));
}

static void keep_back(const hak_slab *run, void *block) {
    unsigned cls = run->cls;
    if (!is_large(run))
        memset(block, HAK_FREED_BYTE, hak_place_room(run));
    bool stays = hak_keeps(cls) && (!is_large(run) || seal(run));
    void *other = stays ? hak_keep_back(cls, block) : block;
    if (other != NULL)
        hak_let_go(cls, other);
}

/* ---- from the core ---- */

/* Returns the size with room for the canary. Nothing is added to a size that no system can grant:
 * the sum could wrap around. */
static size_t padded(const hak_wish *wish) {
    size_t more = wish->spare + hak_policy_now()->guard_canary;
    if (wish->size > HAK_MEDIUM_MAX)
        more += hak_os_page_size();
    return wish->size <= PTRDIFF_MAX ? wish->size + more : wish->size;
}

static void *ask(const hak_wish *wish, size_t size) {
    void *block = wish->from(wish->alignment, size);
    if (block != NULL || errno != ENOMEM || wish->size > PTRDIFF_MAX)
        return block;
    hak_kept_each(NULL, hak_let_go);
    return wish->from(wish->alignment, size);
}

/* A block may come as a large one although its size seemed small. It then needs one more page for
 * its wall, and is asked for again. */
static void *obtain(const hak_wish *wish) {
    size_t size = padded(wish);
    void *block = ask(wish, size);
    if (block == NULL || fits(hak_run_of(block), wish->size))
        return block;
    hak_core_free(block);
    return ask(wish, size + hak_os_page_size());
}

/* Exchanges the block for a random one of its class. A block with more than the usual alignment is
 * kept, since another one of the class may have less. */
static void *obtain_at_random(const hak_wish *wish) {
    for (;;) {
        void *block = obtain(wish);
        if (block == NULL || wish->alignment > HAK_MIN_ALIGN)
            return block;
        void *other = hak_shuffle(hak_run_of(block)->cls, block);
        if (other != NULL)
            return other;
    }
}

static hak_facts facts_for(const hak_wish *wish, hak_facts before) {
    unsigned alignment = wish->alignment != 0 ? hak_highest_bit(wish->alignment) : 0;
    return (hak_facts){.life = HAK_IN_USE,
                       .family = wish->family & 3u,
                       .alignment = alignment & 63u,
                       .turn = (before.turn + 1u) & 63u,
                       .size = wish->size & ((UINT64_C(1) << 48) - 1)};
}

void *hak_guard_allocate(const hak_wish *wish) {
    start();
    void *block = obtain_at_random(wish);
    if (block == NULL)
        return NULL;
    hak_place place = hak_place_of(block);
    if (wish->zero)
        memset(block, 0, wish->size);
    fence(place.run, block, wish->size);
    hak_facts before = atomic_load_explicit(place.record, memory_order_relaxed);
    atomic_store_explicit(place.record, facts_for(wish, before), memory_order_release);
    return block;
}

/* ---- free ---- */

/* Every block has the usual alignment. */
static size_t beyond_usual(size_t alignment) {
    return alignment > HAK_MIN_ALIGN ? alignment : 0;
}

static bool is_mismatched(const hak_claim *claim, hak_facts facts) {
    if (claim->family != facts.family)
        return hak_policy_now()->guard_family != 0;
    return (claim->size != SIZE_MAX && claim->size != facts.size) ||
           (claim->alignment != 0 &&
            beyond_usual(claim->alignment) != beyond_usual((size_t)1 << facts.alignment));
}

static hak_facts facts_in_use(hak_place place, const void *block, const char *function) {
    hak_facts facts = {0};
    if (HAK_LIKELY(place.record != NULL))
        facts = atomic_load_explicit(place.record, memory_order_acquire);
    if (HAK_UNLIKELY(facts.life != HAK_IN_USE))
        hak_refuse_place(block, function, place);
    return facts;
}

/* False: another thread was quicker. */
static bool become(hak_record *record, hak_facts from, hak_facts to) {
    return atomic_compare_exchange_strong_explicit(record, &from, to, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

void hak_guard_free(void *block, const hak_claim *claim) {
    if (block == NULL)
        return;
    int saved_errno = errno;
    hak_place place = hak_place_of(block);
    hak_facts facts = facts_in_use(place, block, claim->function), freed = facts;
    if (HAK_UNLIKELY(is_mismatched(claim, facts)))
        hak_refuse_claim(block, claim, facts);
    check_fence(place, block, claim->function, facts);
    freed.life = HAK_KEPT_BACK;
    if (!become(place.record, facts, freed))
        hak_refuse_place(block, claim->function, place);
    keep_back(place.run, block);
    errno = saved_errno;
}

void hak_guard_name(void *block, enum hak_family family) {
    if (block == NULL)
        return;
    hak_record *record = hak_place_of(block).record;
    hak_facts facts = atomic_load_explicit(record, memory_order_relaxed);
    facts.family = family & 3u;
    atomic_store_explicit(record, facts, memory_order_release);
}

size_t hak_guard_size(const void *block, const char *function) {
    return facts_in_use(hak_place_of(block), block, function).size;
}

/* ---- realloc ---- */

static void *any_block(size_t alignment, size_t size) {
    (void)alignment;
    return hak_core_malloc(size);
}

static void resize_in_place(hak_place place, void *block, hak_facts facts, size_t size) {
    hak_facts resized = facts;
    resized.size = size & ((UINT64_C(1) << 48) - 1);
    if (is_large(place.run))
        unfence(place.run);
    fence(place.run, block, size);
    if (!become(place.record, facts, resized))
        hak_refuse_place(block, "realloc", place);
}

static void *move(void *block, hak_facts facts, size_t size) {
    const hak_claim claim = {"realloc", SIZE_MAX, 0, HAK_FROM_MALLOC};
    /* large blocks that grow will grow again, and copying them each time would take for ever */
    hak_wish wish = {.from = any_block, .size = size, .family = HAK_FROM_MALLOC};
    wish.spare = size > HAK_MEDIUM_MAX && size <= PTRDIFF_MAX ? size / 4 : 0;
    void *moved = hak_guard_allocate(&wish);
    if (moved == NULL)
        return NULL;
    memcpy(moved, block, facts.size < size ? facts.size : size);
    hak_guard_free(block, &claim);
    return moved;
}

/* The block moves, and whoever still uses the old pointer is found. A large one stays in place if
 * the new size fits, and uses half of its room or more: to copy it at each step would take too
 * long. If no new block can be had, a size that fits still works in place. */
void *hak_guard_resize(void *block, size_t size) {
    hak_place place = hak_place_of(block);
    hak_facts facts = facts_in_use(place, block, "realloc");
    const hak_claim claim = {"realloc", SIZE_MAX, 0, HAK_FROM_MALLOC};
    if (is_mismatched(&claim, facts))
        hak_refuse_claim(block, &claim, facts);
    check_fence(place, block, "realloc", facts);
    bool can_stay = size <= facts.size || fits(place.run, size);
    bool stays = is_large(place.run) && can_stay && size >= hak_place_room(place.run) / 2;
    void *moved = stays ? NULL : move(block, facts, size);
    if (moved != NULL || !can_stay)
        return moved;
    resize_in_place(place, block, facts, size);
    return block;
}
