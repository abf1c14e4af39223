/* Threads begin and end together. Where none did so for a while, what they had goes back at once:
 * their heaps, too, but for a few. Where they come and go in turn the heaps stay. By a clock that
 * this test sets. */
#include "thread/thread.h"

#include "heap/seat.h"
#include "include/hakmem.h"
#include "os/os.h"
#include "policy/policy.h"

#include "../support/check.h"
#include "../support/threads.h"

enum { DELAY = 10000, TICK = 10, THREADS = 20, SIZES = 40, STEP = 48 };

static _Atomic uint64_t now_ms = 1000;
uint64_t __wrap_hak_os_now_ms(void);
uint64_t __wrap_hak_os_now_ms(void) {
    return now_ms;
}

static pthread_barrier_t all_have_heaps;

static void *live(void *unused) {
    void *blocks[SIZES];
    for (size_t i = 0; i < SIZES; i++)
        CHECK((blocks[i] = hak_malloc(16 + i * STEP)) != NULL);
    pthread_barrier_wait(&all_have_heaps);
    for (size_t i = 0; i < SIZES; i++)
        hak_free(blocks[i]);
    return unused;
}

/* Returns how many heaps without a thread have memory afterwards. */
static size_t come_and_go(void) {
    pthread_t threads[THREADS];
    now_ms += TICK;
    for (int i = 0; i < THREADS; i++)
        threads[i] = thread_start(live, NULL);
    for (int i = 0; i < THREADS; i++)
        thread_join(threads[i]);
    CHECK(hak_validate());
    return hak_seat_idle_count();
}

int main(void) {
    char delay[] = "HAKMEM_PURGE_DELAY=10000", *environment[] = {delay, NULL};
    hak_policy_read(environment);
    hang_limit();
    CHECK(pthread_barrier_init(&all_have_heaps, NULL, THREADS) == 0);
    hak_free(hak_malloc(1));
    size_t early = come_and_go();
    now_ms += 3 * DELAY;
    size_t rare = come_and_go(), soon = come_and_go();
    now_ms += 3 * DELAY;
    size_t again = come_and_go();
    say("heaps that stay: %zu early, %zu after a while, %zu soon, %zu again", early, rare, soon,
        again);
    CHECK(early == THREADS && rare <= HAK_FEW_SEATS && soon == THREADS && again <= HAK_FEW_SEATS);
    return 0;
}
