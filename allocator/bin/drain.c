#include "base/bits.h"
#include "bin/bin.h"
#include "bin/give.h"
#include "magazine/magazine.h"
#include "pages/range.h"
#include "remote/chain.h"

static HAK_COLD void all_must_be_starts(unsigned cls, const hak_link *carrier, void *const *blocks,
                                        size_t count) {
    hak_chain_look_closer(&hak_classes[cls], carrier);
    for (size_t i = 0; i < count; i++)
        hak_chain_look_closer(&hak_classes[cls], blocks[i]);
}

static size_t room_of(const hak_heap *heap, unsigned cls) {
    return (size_t)(heap->end[cls] - hak_magazine_top(heap, cls));
}

/* Whether a block is still at home here; blocks on one page have one owner. */
static inline bool is_at_home(const hak_owners *owners, void *block, uintptr_t expected,
                              uintptr_t *page) {
    if ((uintptr_t)block - *page < HAK_PAGE_SIZE)
        return true;
    if (!hak_owners_say(owners, block, expected))
        return false;
    *page = hak_round_down((uintptr_t)block, HAK_PAGE_SIZE);
    return true;
}

/* Moves the blocks in the carrier's words into the magazine: those that are still its heap's, as
 * long as there is room. Returns how many. The lower half of each product is below 2^23 where a
 * block begins, and at least the reciprocal elsewhere (hak_divide). So they may be or-ed, and one
 * look at the end tells whether all of them begin a block, the carrier too. In slabs of several
 * pages each block is looked at by itself. */
static inline size_t take_home(hak_heap *heap, uintptr_t expected, const hak_link *carrier,
                               size_t count, uintptr_t key) {
    const hak_owners owners = hak_owners_now();
    const unsigned cls = hak_class_of_owner(expected);
    const uint64_t reciprocal = hak_classes[cls].pages == 1 ? hak_classes[cls].reciprocal : 0;
    size_t room = room_of(heap, cls), most = count < room ? count : room, n = 0;
    void **slots = hak_magazine_lay_down(heap, cls) + 1, *block;
    uintptr_t page = (uintptr_t)0 - HAK_PAGE_SIZE; /* no block lies there, nor NULL */
    uint64_t rest = (uintptr_t)carrier % HAK_PAGE_SIZE * reciprocal;
    for (; n < most; n++) {
        block = hak_link_read(&carrier[1 + n], key);
        if (!is_at_home(&owners, block, expected, &page))
            break;
        slots[n] = block;
        rest |= ((uintptr_t)block - page) * reciprocal;
    }
    if (HAK_UNLIKELY(rest >= reciprocal))
        all_must_be_starts(cls, carrier, slots, n);
    hak_magazine_set_top(heap, cls, hak_magazine_top(heap, cls) + n);
    return n;
}

enum { SOME = 64 }; /* blocks that are given back together */

/* What came home, class after class: most chains of a drain are of one. */
typedef struct arrivals {
    unsigned cls;
    size_t blocks, count;
    void *rest[SOME]; /* `count` of them that are still to be given back */
} arrivals;

static void give_rest(hak_heap *heap, arrivals *came) {
    if (came->count != 0)
        hak_give_back(heap, came->cls, came->rest, came->count);
    came->count = 0;
}

/* For a block that does not go into the magazine: this is full, or the slab has another owner by
 * now, or it is no block of ours at all. */
static inline void add_rest(hak_heap *heap, arrivals *came, void *block) {
    if (came->count == SOME)
        give_rest(heap, came);
    came->rest[came->count++] = block;
}

static void end_class(hak_heap *heap, arrivals *came) {
    give_rest(heap, came);
    if (came->blocks != 0)
        hak_chain_came_home(came->cls, came->blocks);
    came->blocks = 0;
}

static inline void begin_class(hak_heap *heap, arrivals *came, unsigned cls) {
    if (HAK_UNLIKELY(came->cls != cls))
        end_class(heap, came);
    came->cls = cls;
}

static inline uintptr_t owner_of_carrier(const hak_link *carrier) {
    uintptr_t owner = hak_owner_of(carrier);
    if (HAK_UNLIKELY(owner == 0))
        hak_slab_refuse(hak_run_of(carrier), carrier);
    return owner;
}

/* The carrier comes last: until then its slab has a block in use, and its memory stays. */
static inline void take_carrier(hak_heap *heap, void *carrier, bool fits, arrivals *came) {
    if (HAK_LIKELY(fits) && room_of(heap, came->cls) != 0)
        hak_magazine_put(heap, came->cls, carrier);
    else
        add_rest(heap, came, carrier);
}

/* Where a reclaimer has the heap, the magazines must not be touched. */
static bool make_room(hak_heap *heap, unsigned cls) {
    if (heap->robbed)
        return false;
    if (room_of(heap, cls) == 0)
        hak_bin_grow_for_home(heap, cls);
    return room_of(heap, cls) != 0;
}

static hak_link *unload(hak_heap *heap, hak_link *carrier, arrivals *came) {
    uintptr_t owner = owner_of_carrier(carrier), key = hak_link_key(carrier);
    unsigned cls = hak_class_of_owner(owner);
    uintptr_t expected = hak_owner_word(heap, cls);
    hak_link *next = hak_link_read(carrier, key), *block;
    __builtin_prefetch(next);
    const hak_link *word = carrier + 1, *end = carrier + hak_words_in(cls);
    begin_class(heap, came, cls);
    bool fits = make_room(heap, cls);
    if (fits)
        word += take_home(heap, expected, carrier, (size_t)(end - word), key);
    for (; word < end && (block = hak_link_read(word, key)) != NULL; word++)
        add_rest(heap, came, block);
    take_carrier(heap, carrier, fits && owner == expected, came);
    came->blocks += (size_t)(word - carrier);
    return next;
}

static hak_link *fetch(hak_heap *heap) {
    _Atomic(hak_link *) *remote = &heap->seat->remote;
    hak_link *came = hak_seat_came(heap->seat);
    if (came != NULL || atomic_load_explicit(remote, memory_order_relaxed) == NULL)
        return came;
    return atomic_exchange_explicit(remote, NULL, memory_order_acquire);
}

bool hak_drain_some(hak_heap *heap, size_t *carriers) {
    hak_link *carrier = fetch(heap);
    if (carrier == NULL)
        return true;
    arrivals came;
    came.cls = HAK_CLASS_NONE;
    came.blocks = came.count = 0;
    for (; carrier != NULL && *carriers > 0; --*carriers)
        carrier = unload(heap, carrier, &came);
    atomic_store_explicit(&heap->seat->came, carrier, memory_order_relaxed);
    end_class(heap, &came);
    return carrier == NULL;
}

void hak_drain(hak_heap *heap) {
    size_t all = SIZE_MAX;
    if (hak_seat_came(heap->seat) != NULL)
        hak_drain_some(heap, &all);
    hak_drain_some(heap, &all);
}
