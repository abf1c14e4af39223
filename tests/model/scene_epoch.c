/* pages/epoch.c: what was freed while an epoch ended is seen, or another epoch runs. */
#include "pages/epoch.h"
#include "scenes.h"

enum { DELAY_MS = 100 };

static _Atomic bool freed[2];
static bool seen[2];

static void begin(void) {
    hak_policy_now();
    scene_policy.purge_delay_ms = DELAY_MS;
    hak_epoch_start(scene_now_ms); /* nothing waits: none runs */
}

static void frees(unsigned which) {
    atomic_store_explicit(&freed[which], true, memory_order_release);
    hak_purge_expect();
}

static void first(void) {
    frees(0);
}

static void second(void) {
    frees(1);
}

/* As end_epoch in reclaim/purge.c does it: looks what is there, then starts the next one. */
static void ends(void) {
    hak_lock_take(&hak_purge_lock);
    for (unsigned i = 0; i < 2; i++)
        seen[i] = atomic_load_explicit(&freed[i], memory_order_acquire);
    hak_epoch_start(scene_now_ms);
    hak_lock_give(&hak_purge_lock);
}

static void end(void) {
    MODEL_CHECK((seen[0] && seen[1]) || hak_purge_is_pending());
}

const scenario scenario_epoch = {
    "epoch", "two threads free something while a third one ends an epoch",
    begin,   {first, second, ends},
    end,     1 << MODEL_NO_ORDER,
    0};
