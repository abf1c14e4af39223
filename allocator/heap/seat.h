/* The registry: the seats of all heaps, and which of them nobody sits on. Seats are never removed,
 * so whoever looks at all of them needs no lock. A state becomes IDLE or BARE, and something else
 * again, under the registry lock. Who has a VISITED heap makes it ACTIVE without; a reclaimer makes
 * an ACTIVE one VISITED, or FROZEN, under its own lock. */
#pragma once

#include "base/types.h"
#include "os/lock.h"

extern HAK_HIDDEN hak_lock hak_registry_lock;

/* There may be thousands of seats. Nobody looks at more of them in one go, gathers blocks for more
 * of them at a time, or keeps more of them warm for the next threads. */
enum { HAK_FEW_SEATS = 8 };

/* The newest seat; `registry_next` leads to the others. NULL: there is no heap yet. */
hak_seat *hak_seat_first(void);
#define HAK_EACH_SEAT(seat)                                                                        \
    for (hak_seat *seat = hak_seat_first(); seat != NULL; seat = seat->registry_next)

/* Whether it is the oldest of all, which the process's first thread takes. */
static inline bool hak_seat_is_oldest(const hak_seat *seat) {
    return seat->registry_next == NULL;
}

HAK_INLINE enum hak_heap_state hak_seat_state(const hak_seat *seat) {
    return atomic_load_explicit(&seat->state, memory_order_acquire);
}
HAK_INLINE void hak_seat_set_state(hak_seat *seat, enum hak_heap_state state) {
    atomic_store_explicit(&seat->state, state, memory_order_release);
}

/* True when anybody may look into the heap: it has memory. A new seat is known before it has. */
HAK_INLINE bool hak_seat_has_heap(const hak_seat *seat) {
    return hak_seat_state(seat) != HAK_HEAP_BARE &&
           atomic_load_explicit(&seat->usable, memory_order_acquire);
}

/* What the owner has fetched and not unpacked yet. */
HAK_INLINE hak_link *hak_seat_came(const hak_seat *seat) {
    return atomic_load_explicit(&seat->came, memory_order_relaxed);
}

/* True when other threads have left blocks for the heap. */
HAK_INLINE bool hak_seat_has_mail(const hak_seat *seat) {
    return atomic_load_explicit(&seat->remote, memory_order_relaxed) != NULL ||
           hak_seat_came(seat) != NULL;
}

/* Puts a new seat into the registry, in the state VISITED. Under the lock. */
void hak_seat_register(hak_seat *seat);

/* Makes a seat VISITED that is IDLE or BARE: the wanted one or, for NULL, any, one that is IDLE
 * first. NULL: there is none. *bare: its heap has no memory. */
hak_seat *hak_seat_take(hak_seat *wanted, bool *bare);

/* A seat that was VISITED or ACTIVE is IDLE from now on, or BARE. */
void hak_seat_leave(hak_seat *seat, enum hak_heap_state state);

/* Makes the heap the owner of a slab with room of the class that one of the idle heaps had. NULL:
 * found none. */
hak_slab *hak_seat_adopt(const hak_heap *heap, unsigned cls);

size_t hak_seat_idle_count(void);

/* In a forked child: makes the lists sound, where another thread was at them. */
void hak_seat_after_fork_in_child(void);
