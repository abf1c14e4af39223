#include "guard/alive.h"

#include "leaks/leaks.h"
#include "leaks/origins.h"
#include "os/stack.h"

_Atomic bool hak_alive_noted;

/* After the constructors that tell the unwinder of a static program where its tables are. */
static HAK_LATE_AT_LOAD void begin(void) {
    if (!hak_leaks_wanted() || !hak_origins_open())
        return;
    hak_os_stack_start();
    atomic_store_explicit(&hak_alive_noted, true, memory_order_release);
}

void hak_alive_note(hak_place place) {
    atomic_store_explicit(hak_origin_at(place), hak_origin_here(), memory_order_relaxed);
}

static void add(const hak_slab *run, size_t index, const char *start) {
    (void)index;
    hak_place place = hak_place_at(start);
    if (place.record == NULL || place.run != run)
        return;
    hak_facts facts = atomic_load_explicit(place.record, memory_order_acquire);
    if (facts.life == HAK_IN_USE)
        hak_suspects_add(start + hak_front_of(run, facts), facts.size,
                         atomic_load_explicit(hak_origin_at(place), memory_order_relaxed));
}

static bool lives(const hak_suspect *s) {
    hak_record *record = hak_place_of((const void *)s->start).record;
    if (record == NULL)
        return false;
    hak_facts facts = atomic_load_explicit(record, memory_order_acquire);
    return facts.life == HAK_IN_USE && facts.size == s->size;
}

static size_t tell(void) {
    return hak_leaks_tell(lives);
}

void hak_alive_look(void) {
    static const hak_leaks_from from = {add, tell};
    if (hak_leaks_wanted())
        hak_leaks_look(&from);
}
