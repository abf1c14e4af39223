#include "guard/alive.h"

#include "base/classes.h"
#include "leaks/leaks.h"
#include "leaks/origins.h"
#include "os/lock.h"
#include "os/stack.h"
#include "pages/range.h"
#include "pages/segment.h"

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

/* ---- all blocks ---- */

static void add(const hak_slab *run, const char *start) {
    hak_place place = hak_place_at(start);
    if (place.record == NULL || place.run != run)
        return;
    hak_facts facts = atomic_load_explicit(place.record, memory_order_acquire);
    if (facts.life == HAK_IN_USE)
        hak_suspects_add(start + hak_front_of(run, facts), facts.size,
                         atomic_load_explicit(hak_origin_at(place), memory_order_relaxed));
}

static size_t blocks_of(const hak_slab *run) {
    if (run->kind == HAK_RUN_SLAB)
        return run->carved < hak_classes[run->cls].capacity ? run->carved
                                                            : hak_classes[run->cls].capacity;
    return run->kind == HAK_RUN_LARGE;
}

/* Under the lock no run becomes another one: threads may go on. */
static void each_run(void (*visit)(const hak_slab *run, void *context), void *context) {
    for (size_t i = 0; i < hak_range_count(); i++)
        for (size_t page = 0; page < hak_ranges[i].segments_fresh * HAK_PAGES_PER_SEGMENT; page++) {
            hak_lock_take(&hak_segment_lock);
            if (blocks_of(&hak_ranges[i].slabs[page]) != 0)
                visit(&hak_ranges[i].slabs[page], context);
            hak_lock_give(&hak_segment_lock);
        }
}

static void count_run(const hak_slab *run, void *count) {
    *(size_t *)count += blocks_of(run);
}

static void add_run(const hak_slab *run, void *context) {
    (void)context;
    size_t size = hak_place_size(run), blocks = blocks_of(run);
    for (size_t i = 0; i < blocks; i++)
        add(run, (const char *)run->start + i * size);
}

static size_t most(void) {
    size_t count = 0;
    each_run(count_run, &count);
    return count;
}

static void add_all(void) {
    each_run(add_run, NULL);
}

static bool lives(const hak_suspect *s) {
    hak_record *record = hak_place_of((const void *)s->start).record;
    if (record == NULL)
        return false;
    hak_facts facts = atomic_load_explicit(record, memory_order_acquire);
    return facts.life == HAK_IN_USE && facts.size == s->size;
}

void hak_alive_look(void) {
    static const hak_leaks_from from = {most, add_all, lives};
    if (!hak_leaks_wanted())
        return;
    HAK_RACING_READS_BEGIN();
    hak_leaks_look(&from);
    HAK_RACING_READS_END();
}
