#include "bin/drain.h"

#include "base/bits.h"
#include "bin/bin.h"
#include "bin/give.h"
#include "heap/heap.h"
#include "magazine/magazine.h"
#include "pages/range.h"
#include "remote/chain.h"

static HAK_COLD void all_must_be_starts(unsigned cls, const hak_link *carrier, void *const *blocks,
                                        size_t count) {
    hak_chain_look_closer(&hak_classes[cls], carrier);
    for (size_t i = 0; i < count; i++)
        hak_chain_look_closer(&hak_classes[cls], blocks[i]);
}

/* Takes what does not simply go into the magazine: a carrier, a block for which the magazine has no
 * room, one whose slab has another owner by now, or what is no block at all. */
static HAK_DOOR void take_odd(hak_heap *heap, void *block, hak_chains *elsewhere) {
    uintptr_t owner = hak_owner_of(block);
    if (owner == 0)
        hak_slab_refuse(hak_run_of(block), block);
    hak_chain_must_be_start(hak_class_of_owner(owner), block);
    if (hak_heap_inherits(heap, owner, block))
        owner = hak_owner_of(block);
    if (hak_seat_in(owner) == heap->seat)
        hak_bin_take_home(heap, hak_class_of_owner(owner), block);
    else
        hak_chains_add(elsewhere, owner, block);
}

/* Room in the magazine of a class. */
static size_t room_of(const hak_heap *heap, unsigned cls) {
    return (size_t)(heap->end[cls] - heap->top[cls]);
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
 * long as there is room. Returns how many. The lower half of each product is small where a block
 * begins (hak_divide), so one look at the end tells whether all of them begin a block, the carrier
 * too. In slabs of several pages each block is looked at by itself. */
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
    hak_magazine_set_top(heap, cls, heap->top[cls] + n);
    return n;
}

/* What came home, class after class: most chains of a drain are of one. */
typedef struct arrivals {
    unsigned cls;
    size_t blocks;
} arrivals;

static inline void note_arrival(arrivals *came, unsigned cls, size_t blocks) {
    if (HAK_UNLIKELY(came->cls != cls)) {
        if (came->blocks != 0)
            hak_chain_came_home(came->cls, came->blocks);
        *came = (arrivals){cls, 0};
    }
    came->blocks += blocks;
}

static inline uintptr_t owner_of_carrier(const hak_link *carrier) {
    uintptr_t owner = hak_owner_of(carrier);
    if (HAK_UNLIKELY(owner == 0))
        hak_slab_refuse(hak_run_of(carrier), carrier);
    return owner;
}

static inline void take_carrier(hak_heap *heap, unsigned cls, hak_link *carrier, bool is_at_home,
                                hak_chains *elsewhere) {
    if (HAK_UNLIKELY(!is_at_home) || room_of(heap, cls) == 0)
        take_odd(heap, carrier, elsewhere);
    else
        hak_magazine_put(heap, cls, carrier);
}

/* The carrier comes last: until then its slab has a block in use, and its memory stays. */
static hak_link *unload(hak_heap *heap, hak_link *carrier, hak_chains *elsewhere, arrivals *came) {
    uintptr_t owner = owner_of_carrier(carrier), key = hak_link_key(carrier);
    unsigned cls = hak_class_of_owner(owner);
    uintptr_t expected = hak_owner_word(heap, cls);
    hak_link *next = hak_link_read(carrier, key), *block;
    __builtin_prefetch(next);
    const hak_link *word = carrier + 1, *end = carrier + hak_words_in(cls);
    word += take_home(heap, expected, carrier, (size_t)(end - word), key);
    for (; word < end && (block = hak_link_read(word, key)) != NULL; word++)
        take_odd(heap, block, elsewhere);
    take_carrier(heap, cls, carrier, owner == expected, elsewhere);
    note_arrival(came, cls, (size_t)(word - carrier));
    return next;
}

/* The same where the magazines must not be touched: one by one, for nobody waits for them. */
static hak_link *unload_into_slabs(hak_heap *heap, hak_link *carrier, arrivals *came) {
    unsigned cls = hak_class_of_owner(owner_of_carrier(carrier));
    uintptr_t key = hak_link_key(carrier);
    hak_link *next = hak_link_read(carrier, key);
    const hak_link *word = carrier + 1, *end = carrier + hak_words_in(cls);
    for (void *block; word < end && (block = hak_link_read(word, key)) != NULL; word++)
        hak_give_back(heap, cls, &block, 1);
    hak_give_back(heap, cls, &(void *){carrier}, 1);
    note_arrival(came, cls, (size_t)(word - carrier));
    return next;
}

static hak_link *fetch(hak_heap *heap) {
    _Atomic(hak_link *) *remote = &heap->seat->remote;
    if (heap->came != NULL || atomic_load_explicit(remote, memory_order_relaxed) == NULL)
        return heap->came;
    return atomic_exchange_explicit(remote, NULL, memory_order_acquire);
}

bool hak_drain_some(hak_heap *heap, size_t *carriers) {
    hak_link *carrier = fetch(heap);
    if (carrier == NULL)
        return true;
    hak_chains elsewhere;
    arrivals came = {0};
    hak_chains_begin(&elsewhere);
    for (; carrier != NULL && *carriers > 0; --*carriers)
        carrier = heap->robbed ? unload_into_slabs(heap, carrier, &came)
                               : unload(heap, carrier, &elsewhere, &came);
    heap->came = carrier;
    hak_chain_came_home(came.cls, came.blocks);
    hak_chains_send(&elsewhere);
    return carrier == NULL;
}

void hak_drain(hak_heap *heap) {
    size_t all = SIZE_MAX;
    if (heap->came != NULL)
        hak_drain_some(heap, &all);
    hak_drain_some(heap, &all);
}
