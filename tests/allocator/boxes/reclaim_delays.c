/* What was freed goes back within two purge delays while any thread allocates a little, whoever it
 * belonged to: a thread that sleeps, one that has ended, or the one that goes on. It stays from the
 * moment on when the program says so. By a clock that this test sets, so it does not matter how
 * fast the machine is. */
#include "thread/thread.h"
#include "include/hakmem.h"
#include "os/os.h"
#include "pages/range.h"
#include "policy/policy.h"

#include <string.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/threads.h"

enum { DELAY = 10000, TICK = 10, STEPS = DELAY / 10 }; /* milliseconds; STEPS: see below */
enum { SIZE = 1000, BLOCKS = 8192, LIVE_SHARE = 16, RUN = 16, SLACK = 512 << 10 };

static _Atomic uint64_t now_ms = 1;
uint64_t __wrap_hak_os_now_ms(void);
uint64_t __wrap_hak_os_now_ms(void) {
    return now_ms;
}

static void *blocks[BLOCKS];
static pthread_barrier_t built, freed;

static size_t resident(void) {
    size_t bytes = 0;
    for (size_t i = 0; i < hak_range_count(); i++)
        bytes += resident_bytes((const void *)hak_ranges[i].base,
                                hak_ranges[i].segments_fresh * HAK_SEGMENT_SIZE);
    return bytes;
}

static void *build(void *unused) {
    for (size_t i = 0; i < BLOCKS; i++) {
        CHECK((blocks[i] = hak_malloc(SIZE)) != NULL);
        memset(blocks[i], 1, SIZE);
    }
    return unused;
}

static void *build_and_sleep(void *unused) {
    build(unused);
    pthread_barrier_wait(&built);
    pthread_barrier_wait(&freed);
    return NULL;
}

static void free_those(bool that_live) {
    for (size_t i = 0; i < BLOCKS; i++)
        if ((i / RUN % LIVE_SHARE == 0) == that_live)
            hak_free(blocks[i]);
}

/* The program goes on with something else. */
static void go_on(uint64_t ms) {
    for (uint64_t end = now_ms + ms; now_ms < end; now_ms += TICK)
        hak_free(hak_malloc(100));
}

/* Each malloc does a step at most, so some of them come after the two delays. */
static void goes_back(const char *whose, size_t at_start) {
    free_those(false);
    go_on(DELAY / 2);
    size_t soon = resident();
    go_on(DELAY + DELAY / 2 + STEPS);
    size_t then = resident(), live = at_start + (size_t)BLOCKS * SIZE / LIVE_SHARE;
    say("%s: %zu KiB, %zu after half a delay, %zu after two", whose, at_start / 1024, soon / 1024,
        then / 1024);
    CHECK(soon >= at_start + (size_t)BLOCKS * SIZE);
    CHECK_THAT(then <= live + SLACK, "%zu KiB live", live / 1024);
    free_those(true);
    CHECK(hak_validate());
}

/* The next one begins with nothing that waits, in the middle of an epoch. */
static size_t start(void) {
    hak_purge();
    go_on(DELAY);
    go_on(DELAY);
    hak_free(hak_malloc(5000));
    go_on(DELAY / 3);
    return resident();
}

static void of_a_sleeper(void) {
    CHECK(pthread_barrier_init(&built, NULL, 2) == 0);
    CHECK(pthread_barrier_init(&freed, NULL, 2) == 0);
    size_t at_start = start();
    pthread_t thread = thread_start(build_and_sleep, NULL);
    pthread_barrier_wait(&built);
    goes_back("of a thread that sleeps", at_start);
    pthread_barrier_wait(&freed);
    thread_join(thread);
}

static void of_an_ended_thread(void) {
    size_t at_start = start();
    thread_join(thread_start(build, NULL));
    goes_back("of a thread that has ended", at_start);
}

static void of_its_own(void) {
    size_t at_start = start();
    build(NULL);
    goes_back("its own", at_start);
}

static void set_delay(const char *milliseconds) {
    CHECK(hak_policy_set("purge_delay", milliseconds) == 0);
}

/* An epoch runs when the delay becomes "never": it ends, and purges nothing. */
static void stays_from_now_on(void) {
    size_t at_start = start();
    build(NULL);
    free_those(false);
    go_on(DELAY + DELAY / 4);
    set_delay("3600000");
    go_on(4 * DELAY);
    size_t then = resident();
    CHECK_THAT(then >= at_start + (size_t)BLOCKS * SIZE, "%zu -> %zu KiB", at_start / 1024,
               then / 1024);
    set_delay("10000");
    go_on(3 * DELAY);
    then = resident();
    CHECK_THAT(then < at_start + (size_t)BLOCKS * SIZE / 2, "%zu KiB stay", then / 1024);
    free_those(true);
}

int main(void) {
    char delay[] = "HAKMEM_PURGE_DELAY=10000", *environment[] = {delay, NULL};
    hak_policy_read(environment);
    hang_limit();
    if (!calls_are_filtered())
        of_a_sleeper();
    of_an_ended_thread();
    of_its_own();
    stays_from_now_on();
    return 0;
}
