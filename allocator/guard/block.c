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

/* A large block of no bytes ends at its wall. */
static size_t least_canary(const hak_slab *run, hak_facts facts) {
    return is_large(run) && facts.size == 0 ? 0 : hak_policy_now()->guard_canary;
}

/* Where the canary behind a block ends, counted from its start. */
static size_t end_of(const hak_slab *run, hak_facts facts) {
    if (!is_large(run))
        return hak_place_room(run);
    size_t bytes = hak_front_of(run, facts) + facts.size + least_canary(run, facts);
    return hak_round_up(bytes, hak_os_page_size());
}

static bool fits(const hak_slab *run, hak_facts facts) {
    size_t room = hak_place_room(run);
    size_t more = hak_front_of(run, facts) + least_canary(run, facts);
    return more <= room && facts.size <= room - more && end_of(run, facts) <= room;
}

/* Writes the canary on both sides, and puts a wall of inaccessible pages behind a large block. The
 * system may refuse one more mapping: then the block has no wall. */
static void fence(const hak_slab *run, char *start, hak_facts facts) {
    size_t front = hak_front_of(run, facts), end = end_of(run, facts);
    size_t behind = front + facts.size;
    memset(start, hak_canary(start), front);
    memset(start + behind, hak_canary(start), end - behind);
    if (is_large(run))
        hak_os_protect(start + end, hak_place_size(run) - end);
}

static bool unfence(const hak_slab *run) {
    return hak_os_unprotect((void *)run->start, hak_place_size(run));
}

static bool is_still(hak_place place, hak_facts facts) {
    hak_facts now = atomic_load_explicit(place.record, memory_order_acquire);
    return memcmp(&now, &facts, sizeof now) == 0;
}

static char *first_damaged(char *from, char *to, int canary) {
    return from + hak_first_other(from, canary, (size_t)(to - from));
}

/* Another thread may free the block meanwhile, and its slab may go back to its segment. Pages
 * without a slab have room for 0 bytes. So an end that lies before the size of the block says that
 * this has happened. */
const void *hak_find_overflow(hak_place place, hak_facts facts) {
    char *block = place.start + hak_front_of(place.run, facts);
    char *behind = block + facts.size, *end = place.start + end_of(place.run, facts);
    if (HAK_UNLIKELY(end < behind))
        return NULL;
    int canary = hak_canary(place.start);
    char *at = first_damaged(place.start, block, canary);
    if (at == block)
        at = first_damaged(behind, end, canary);
    return HAK_UNLIKELY(at != end) && is_still(place, facts) ? at : NULL;
}

static void check_fence(hak_place place, const void *block, const char *function, hak_facts facts) {
    const void *at = hak_find_overflow(place, facts);
    if (HAK_UNLIKELY(at != NULL))
        hak_refuse_overflow(block, function, facts, at);
}

/* ---- back to the core ---- */

static void check_pattern(unsigned cls, hak_place place, hak_facts facts) {
    if (cls == HAK_CLASS_NONE)
        return;
    size_t room = hak_place_room(place.run);
    size_t at = hak_first_other(place.start, HAK_FREED_BYTE, room);
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
    if (is_large(place.run) && !unfence(place.run))
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

static void keep_back(const hak_slab *run, void *start) {
    unsigned cls = run->cls;
    if (!is_large(run))
        memset(start, HAK_FREED_BYTE, hak_place_room(run));
    bool stays = hak_keeps(cls) && (!is_large(run) || seal(run));
    void *other = stays ? hak_keep_back(cls, start) : start;
    if (other != NULL)
        hak_let_go(cls, other);
}

/* ---- from the core ---- */

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
 * own, which fault after its free. More alignment than a page leaves no room in front. */
static bool wants_pages(const hak_wish *wish) {
    bool each = hak_policy_now()->guard_pages != 0;
    return (wish->size == 0 || each) && wish->size <= HAK_MEDIUM_MAX &&
           wish->alignment <= hak_os_page_size();
}

/* What is added to a size: room for the canary on both sides, the wall, and what it may grow by. */
static size_t extra(const hak_wish *wish) {
    size_t page = hak_os_page_size(), front = (size_t)1 << alignment_bit(wish);
    size_t more = wish->spare + hak_policy_now()->guard_canary;
    more += front > HAK_MIN_ALIGN && front <= page ? front : HAK_MIN_ALIGN;
    return more + (wants_pages(wish) || wish->size > HAK_MEDIUM_MAX ? page : 0);
}

/* Nothing is added to a size that no system can grant: the sum could wrap around. */
static size_t padded(const hak_wish *wish) {
    if (wish->size > PTRDIFF_MAX)
        return wish->size;
    size_t size = wish->size + extra(wish);
    return wants_pages(wish) && size <= HAK_MEDIUM_MAX ? HAK_MEDIUM_MAX + 1 : size;
}

static void *ask(const hak_wish *wish, size_t size) {
    void *start = wish->from(wish->alignment, size);
    if (start != NULL || errno != ENOMEM || wish->size > PTRDIFF_MAX)
        return start;
    hak_kept_each(NULL, hak_let_go);
    return wish->from(wish->alignment, size);
}

/* A block may come as a large one although its size seemed small. It then needs one more page for
 * its wall, and is asked for again. */
static void *obtain(const hak_wish *wish) {
    size_t size = padded(wish);
    void *start = ask(wish, size);
    if (start == NULL || fits(hak_run_of(start), facts_for(wish)))
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
    fence(place.run, first, facts);
    facts.turn = (atomic_load_explicit(place.record, memory_order_relaxed).turn + 1u) & 63u;
    atomic_store_explicit(place.record, facts, memory_order_release);
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
    keep_back(place.run, place.start);
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

static void resize_in_place(hak_place place, const void *block, hak_facts facts,
                            hak_facts resized) {
    if (is_large(place.run))
        unfence(place.run);
    fence(place.run, place.start, resized);
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
 * long, unless HAKMEM_GUARD_PAGES asks for all that can be found. If no new block can be had, a
 * size that fits still works in place. */
void *hak_guard_resize(void *block, size_t size) {
    hak_place place = hak_place_of(block);
    hak_facts facts = facts_in_use(place, block, "realloc");
    const hak_claim claim = {"realloc", SIZE_MAX, 0, HAK_FROM_MALLOC};
    if (is_mismatched(&claim, facts))
        hak_refuse_claim(block, &claim, facts);
    check_fence(place, block, "realloc", facts);
    hak_facts resized = facts;
    resized.size = size & ((UINT64_C(1) << 48) - 1);
    bool can_stay = facts.size != 0 && resized.size == size && fits(place.run, resized);
    bool stays = is_large(place.run) && can_stay && hak_policy_now()->guard_pages == 0 &&
                 size >= hak_place_room(place.run) / 2;
    void *moved = stays ? NULL : move(block, facts, size);
    if (moved != NULL || !can_stay)
        return moved;
    resize_in_place(place, block, facts, resized);
    return block;
}
