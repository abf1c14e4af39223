#include "remote/chain.h"

#include "base/bits.h"
#include "pages/epoch.h"
#include "pages/range.h"
#include "stats/stats.h"

/* Blocks on their way. One addition as a chain leaves, one as it comes home. */
static _Atomic size_t away[HAK_CLASSES];

size_t hak_chain_blocks_away(unsigned cls) {
    return atomic_load_explicit(&away[cls], memory_order_relaxed);
}

void hak_chain_came_home(unsigned cls, size_t blocks) {
    atomic_fetch_sub_explicit(&away[cls], blocks, memory_order_relaxed);
}

/* Before it is sent: nobody sees more come home than went away. All carriers but the first are
 * full. */
static void count_away(const struct hak_chain *chain) {
    unsigned cls = hak_class_of_owner(chain->owner);
    size_t blocks = chain->full * hak_words_in(cls) + (size_t)(chain->next - chain->first);
    atomic_fetch_add_explicit(&away[cls], blocks, memory_order_relaxed);
}

void hak_chain_look_closer(const hak_class *of, const void *block) {
    const hak_slab *slab = hak_run_of(block);
    if (!hak_divide((uintptr_t)block - slab->start, of->reciprocal).is_exact)
        hak_slab_refuse(slab, block);
}

static inline bool is_on_page(const void *block, uintptr_t page) {
    return (uintptr_t)block - page < HAK_PAGE_SIZE;
}

/* A 0 ends addresses that do not fill the carrier. */
static void close_carrier(const struct hak_chain *chain) {
    if (chain->next != chain->end)
        hak_link_write(chain->next, NULL, chain->key);
}

static void send(struct hak_chain *chain) {
    _Atomic(hak_link *) *remote = &hak_seat_in(chain->owner)->remote;
    hak_link *head = atomic_load_explicit(remote, memory_order_relaxed);
    uintptr_t key = hak_link_key(chain->last);
    close_carrier(chain);
    count_away(chain);
    do
        hak_link_write(chain->last, head, key);
    while (!atomic_compare_exchange_weak_explicit(remote, &head, chain->first, memory_order_release,
                                                  memory_order_relaxed));
    chain->owner = 0;
    HAK_COUNT(remote_chains, 1);
    hak_purge_expect(); /* the owner may have ended: the epoch takes the blocks back for it */
}

void hak_chains_send(hak_chains *chains) {
    for (unsigned i = 0; i < HAK_FEW_SEATS; i++)
        if (chains->open[i].owner != 0)
            send(&chains->open[i]);
}

/* A chain of another owner in this place is sent first. */
static void begin_chain(struct hak_chain *chain, uintptr_t owner, hak_link *carrier) {
    if (chain->owner != 0)
        send(chain);
    chain->owner = owner;
    chain->first = NULL;
    chain->last = carrier;
    chain->full = (size_t)-1;
}

/* Ends the program if no block of the class begins there. Where a slab is one page long, the place
 * in the page decides; otherwise the slab's entry says where it begins. */
static void must_be_start(unsigned cls, const void *block) {
    const hak_class *of = &hak_classes[cls];
    size_t place = (uintptr_t)block % HAK_PAGE_SIZE;
    if (HAK_UNLIKELY(of->pages != 1) || !hak_divide(place, of->reciprocal).is_exact)
        hak_chain_look_closer(of, block);
}

/* Makes the block a carrier. */
static HAK_DOOR void carry(struct hak_chain *chain, uintptr_t owner, void *block) {
    hak_link *carrier = block;
    must_be_start(hak_class_of_owner(owner), block);
    if (chain->owner != owner)
        begin_chain(chain, owner, carrier);
    chain->full++;
    chain->key = hak_link_key(carrier);
    hak_link_write(carrier, chain->first, chain->key);
    chain->first = carrier;
    chain->next = carrier + 1;
    chain->end = carrier + hak_words_in(hak_class_of_owner(owner));
}

/* Writes blocks into `words` up to the first whose page has another owner; returns how many.
 * blocks[-1] has this owner. */
static inline size_t write_run(hak_link *words, uintptr_t key, uintptr_t owner, void *const *blocks,
                               size_t most) {
    const hak_owners owners = hak_owners_now();
    uintptr_t page = hak_round_down((uintptr_t)blocks[-1], HAK_PAGE_SIZE);
    size_t n = 0;
    for (;; page = hak_round_down((uintptr_t)blocks[n], HAK_PAGE_SIZE)) {
        for (; n < most && is_on_page(blocks[n], page); n++)
            hak_link_write(&words[n], blocks[n], key);
        if (n == most || !hak_owners_say(&owners, blocks[n], owner))
            return n;
    }
}

size_t hak_chains_add_run(hak_chains *chains, uintptr_t owner, void *const *blocks, size_t count) {
    struct hak_chain *chain = &chains->open[hak_chain_of(owner)];
    if (HAK_LIKELY(chain->owner == owner && chain->next != chain->end))
        hak_link_write(chain->next++, *blocks, chain->key);
    else
        carry(chain, owner, *blocks);
    size_t room = (size_t)(chain->end - chain->next), most = count - 1 < room ? count - 1 : room;
    size_t n = write_run(chain->next, chain->key, owner, blocks + 1, most);
    chain->next += n;
    return n + 1;
}
