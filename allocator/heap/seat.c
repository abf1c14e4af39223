#include "heap/seat.h"

#include "slab/slab.h"

HAK_EARLY hak_lock hak_registry_lock;
static HAK_EARLY _Atomic(hak_seat *) registry;

static HAK_EARLY hak_seat *idle, *bare; /* those of each state, the one that came last first */
static HAK_EARLY hak_seat *adopt_next;  /* of the idle ones: where the next adoption looks first */
static HAK_EARLY _Atomic size_t idle_count;

/* How many idle heaps have a slab with room of a class: where none has, nobody takes the lock. */
static HAK_EARLY _Atomic uint32_t stocked[HAK_CLASSES];

/* ---- all seats ---- */

hak_seat *hak_seat_first(void) {
    return atomic_load_explicit(&registry, memory_order_acquire);
}

void hak_seat_register(hak_seat *seat) {
    seat->state = HAK_HEAP_VISITED;
    seat->registry_next = hak_seat_first();
    atomic_store_explicit(&registry, seat, memory_order_release);
}

/* ---- those that nobody sits on ---- */

static void push(hak_seat **first, hak_seat *seat) {
    seat->idle_prev = NULL;
    seat->idle_next = *first;
    if (*first != NULL)
        (*first)->idle_prev = seat;
    *first = seat;
}

static void take_off(hak_seat **first, hak_seat *seat) {
    if (seat == adopt_next)
        adopt_next = seat->idle_next;
    if (seat->idle_prev != NULL)
        seat->idle_prev->idle_next = seat->idle_next;
    else
        *first = seat->idle_next;
    if (seat->idle_next != NULL)
        seat->idle_next->idle_prev = seat->idle_prev;
}

/* By whoever has the heap for itself: before it becomes idle, or after. */
static void note_stock(const hak_heap *heap, uint32_t by) {
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        if (heap->bins[cls].partial != NULL)
            atomic_fetch_add_explicit(&stocked[cls], by, memory_order_relaxed);
}

/* Under the lock. False: it is neither idle nor bare. */
static bool begin_visit(hak_seat *seat, bool *is_bare) {
    enum hak_heap_state state = hak_seat_state(seat);
    *is_bare = state == HAK_HEAP_BARE;
    if (state != HAK_HEAP_IDLE && state != HAK_HEAP_BARE)
        return false;
    take_off(*is_bare ? &bare : &idle, seat);
    atomic_fetch_sub_explicit(&idle_count, !*is_bare, memory_order_relaxed);
    hak_seat_set_state(seat, HAK_HEAP_VISITED);
    return true;
}

hak_seat *hak_seat_take(hak_seat *wanted, bool *is_bare) {
    hak_lock_take(&hak_registry_lock);
    hak_seat *seat = wanted != NULL ? wanted : idle != NULL ? idle : bare;
    bool taken = seat != NULL && begin_visit(seat, is_bare);
    hak_lock_give(&hak_registry_lock);
    if (taken && !*is_bare)
        note_stock(seat->heap, (uint32_t)-1);
    return taken ? seat : NULL;
}

void hak_seat_leave(hak_seat *seat, enum hak_heap_state state) {
    bool is_bare = state == HAK_HEAP_BARE;
    if (!is_bare)
        note_stock(seat->heap, 1);
    hak_lock_take(&hak_registry_lock);
    push(is_bare ? &bare : &idle, seat);
    atomic_fetch_add_explicit(&idle_count, !is_bare, memory_order_relaxed);
    hak_seat_set_state(seat, state);
    hak_lock_give(&hak_registry_lock);
}

size_t hak_seat_idle_count(void) {
    return atomic_load_explicit(&idle_count, memory_order_relaxed);
}

/* ---- slabs of idle heaps ---- */

/* Under the lock, so that whoever visits the heap next sees that the slab has another owner.
 * Meanwhile the seat counts as visited: a forked child must not believe what it finds in the
 * heap. */
static hak_slab *take_slab(const hak_heap *heap, hak_seat *from, unsigned cls) {
    hak_slab *slab = from->heap->bins[cls].partial;
    if (slab == NULL)
        return NULL;
    hak_seat_set_state(from, HAK_HEAP_VISITED);
    atomic_signal_fence(memory_order_seq_cst);
    hak_slab_unlink(from->heap, slab);
    hak_slab_own(heap, slab);
    if (from->heap->bins[cls].partial == NULL)
        atomic_fetch_sub_explicit(&stocked[cls], 1, memory_order_relaxed);
    hak_seat_set_state(from, HAK_HEAP_IDLE);
    return slab;
}

/* Goes round the idle heaps, a few at each call: there may be thousands. What was freed to them
 * remotely is taken back once per purge epoch. */
hak_slab *hak_seat_adopt(const hak_heap *heap, unsigned cls) {
    hak_slab *slab = NULL;
    if (atomic_load_explicit(&stocked[cls], memory_order_relaxed) == 0)
        return NULL;
    hak_lock_take(&hak_registry_lock);
    for (int looks = 0; looks < HAK_FEW_SEATS && slab == NULL && idle != NULL; looks++) {
        hak_seat *seat = adopt_next != NULL ? adopt_next : idle;
        slab = take_slab(heap, seat, cls);
        adopt_next = seat->idle_next;
    }
    hak_lock_give(&hak_registry_lock);
    return slab;
}

/* ---- after fork ---- */

/* The state of each seat says where it belongs: it is set last, or before the heap is touched. */
static void list_again(void) {
    idle = bare = adopt_next = NULL;
    size_t count = 0;
    HAK_EACH_SEAT(seat) {
        bool is_idle = hak_seat_state(seat) == HAK_HEAP_IDLE;
        if (is_idle || hak_seat_state(seat) == HAK_HEAP_BARE)
            push(is_idle ? &idle : &bare, seat);
        count += is_idle;
    }
    atomic_store_explicit(&idle_count, count, memory_order_relaxed);
}

/* Also where nobody held the lock: heaps are counted without it. */
static void count_stock(void) {
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        atomic_store_explicit(&stocked[cls], 0, memory_order_relaxed);
    for (hak_seat *seat = idle; seat != NULL; seat = seat->idle_next)
        note_stock(seat->heap, 1);
}

void hak_seat_after_fork_in_child(void) {
    if (hak_lock_inherit(&hak_registry_lock))
        list_again();
    if (hak_locks_held == 0)
        count_stock();
}
