/* os/lock.h: one at a time, and nobody sleeps for ever. */
#include "os/lock.h"
#include "scenes.h"

static hak_lock lock;
static int inside, visits;

static void begin(void) {}

static void visit(void) {
    inside++;
    MODEL_CHECK(inside == 1);
    inside--;
    visits++;
    hak_lock_give(&lock);
}

static void waits(void) {
    hak_lock_take(&lock);
    visit();
}

static void tries(void) {
    if (hak_lock_try(&lock))
        visit();
}

static void end(void) {
    MODEL_CHECK(visits == 2 || visits == 3);
    MODEL_CHECK(atomic_load(&lock.state) == 0);
}

const scenario scenario_lock = {
    "lock", "two threads take it, a third one tries",
    begin,  {waits, waits, tries},
    end,    1 << MODEL_NO_RELEASE | 1 << MODEL_NO_ACQUIRE | 1 << MODEL_NO_WAKE,
    0};
