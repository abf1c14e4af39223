/* Counters of page-level events. Nothing on the hot path counts anything. */
#pragma once

#include "base/attributes.h"
#include "base/tally.h"

#include <stdatomic.h>
#include <stddef.h>

typedef struct hak_stats {
#define HAK_EVENT(name, help) _Atomic size_t name;
#include "stats/events.def"
#undef HAK_EVENT
} hak_stats;

extern HAK_HIDDEN hak_stats hak_events;

/* A request for so many bytes ends so: it is counted, and errno is ENOMEM. Returns NULL. */
HAK_COLD void *hak_refuse(size_t size);

#define HAK_COUNT(name, by)                                                                        \
    atomic_fetch_add_explicit(&hak_events.name, (size_t)(by), memory_order_relaxed)
#define HAK_COUNTED(name) atomic_load_explicit(&hak_events.name, memory_order_relaxed)

/* ---- what was counted in heaps whose memory has gone back to the system: research builds ---- */

/* Adds what a heap has counted, one tally for each class, before its memory goes. */
void hak_tallies_keep(const hak_tally *tallies);

/* What all heaps that went have counted of the class. One that goes just now may be missing. */
hak_tally hak_tallies_kept(unsigned cls);
