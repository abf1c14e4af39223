#include "trap/pool.h"

#include "os/calls.h"
#include "os/fault.h"

hak_trap_pool hak_traps;
static _Atomic uint64_t turns;

enum { STATE_BITS = 2, STATE = (1 << STATE_BITS) - 1 };

bool hak_trap_open(void) {
    size_t page = hak_os_page_size(), size = (2 * HAK_TRAP_SLOTS + 1) * page;
    size_t events = hak_round_up(HAK_TRAP_SLOTS * sizeof(hak_trap_slot), page);
    char *all = hak_traps.start == 0 ? hak_os_map(events + size, 1) : NULL;
    if (all == NULL)
        return hak_traps.start != 0;
    if (!hak_os_protect(all + events, size)) {
        hak_os_unmap(all, events + size);
        return false;
    }
    hak_traps.slots = (hak_trap_slot *)all;
    hak_traps.size = size;
    hak_traps.start = (uintptr_t)all + events;
    return true;
}

void hak_trap_note(hak_trap_event *event) {
    event->thread = hak_call_thread();
    hak_stack_take(&event->stack);
}

enum hak_trap_state hak_trap_state_of(size_t slot) {
    return (enum hak_trap_state)(atomic_load(&hak_traps.words[slot]) & STATE);
}

bool hak_trap_was_used(size_t slot) {
    return atomic_load(&hak_traps.words[slot]) != HAK_TRAP_FREE;
}

bool hak_trap_pass(size_t slot, enum hak_trap_state from, enum hak_trap_state to) {
    uint64_t word = atomic_load(&hak_traps.words[slot]), next = (word & ~(uint64_t)STATE) | to;
    return (word & STATE) == from &&
           atomic_compare_exchange_strong(&hak_traps.words[slot], &word, next);
}

void hak_trap_retire(size_t slot) {
    uint64_t turn = atomic_fetch_add(&turns, 1) + 1;
    atomic_store(&hak_traps.words[slot], turn << STATE_BITS | HAK_TRAP_FREE);
}

/* Finds the smallest word of a free slot: words grow with each slot that is freed. */
static size_t find_oldest(uint64_t *word) {
    size_t oldest = HAK_TRAP_SLOTS, free = 0;
    *word = UINT64_MAX;
    for (size_t i = 0; i < HAK_TRAP_SLOTS; i++) {
        uint64_t seen = atomic_load_explicit(&hak_traps.words[i], memory_order_relaxed);
        if ((seen & STATE) != HAK_TRAP_FREE)
            continue;
        free++;
        oldest = seen < *word ? i : oldest;
        *word = seen < *word ? seen : *word;
    }
    return free > HAK_TRAP_KEPT ? oldest : HAK_TRAP_SLOTS;
}

size_t hak_trap_claim(void) {
    uint64_t word;
    for (;;) {
        size_t slot = find_oldest(&word);
        if (slot == HAK_TRAP_SLOTS ||
            atomic_compare_exchange_strong(&hak_traps.words[slot], &word, word | HAK_TRAP_BUSY))
            return slot;
    }
}

/* A page that faults lies between two slots: the nearer one is meant, unless only the other one has
 * a block, or ever had one. */
size_t hak_trap_slot_at(const void *address) {
    size_t at = (uintptr_t)address - hak_traps.start, page = at / hak_os_page_size();
    size_t right = page / 2, left = right - 1;
    if (page % 2 == 1 || right == 0)
        return right;
    if (right == HAK_TRAP_SLOTS)
        return left;
    bool is_left = at % hak_os_page_size() < hak_os_page_size() / 2;
    size_t near = is_left ? left : right, far = is_left ? right : left;
    bool near_lives = hak_trap_state_of(near) >= HAK_TRAP_LIVE;
    bool far_lives = hak_trap_state_of(far) >= HAK_TRAP_LIVE;
    return far_lives > near_lives || !hak_trap_was_used(near) ? far : near;
}
