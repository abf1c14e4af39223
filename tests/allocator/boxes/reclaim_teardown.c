/* Threads begin and end together. Where none did so for a while, what they had goes back at once:
 * their heaps, too, but for a few. Where they come and go in turn the heaps stay. By a clock that
 * this test sets. */
#include "thread/thread.h"

#include "heap/seat.h"
#include "include/hakmem.h"
#include "os/os.h"
#include "policy/policy.h"

#include <semaphore.h>

#include "../support/check.h"
#include "../support/threads.h"

enum { DELAY = 10000, TICK = 10, THREADS = 20, SIZES = 40, STEP = 48 };

static _Atomic uint64_t now_ms = 1000;
uint64_t __wrap_hak_os_now_ms(void);
uint64_t __wrap_hak_os_now_ms(void) {
    return now_ms;
}

static pthread_barrier_t all_are_here;
static sem_t may_end[THREADS];

/* None allocates before all have heaps, or after one has ended: it might take over slabs of a heap
 * that nobody has, and then they would hold blocks of each other. */
static void *live(void *its_turn) {
    void *blocks[SIZES];
    CHECK(hak_heap_self());
    pthread_barrier_wait(&all_are_here);
    for (size_t i = 0; i < SIZES; i++)
        CHECK((blocks[i] = hak_malloc(16 + i * STEP)) != NULL);
    pthread_barrier_wait(&all_are_here);
    for (size_t i = 0; i < SIZES; i++)
        hak_free(blocks[i]);
    CHECK(sem_wait(its_turn) == 0);
    return NULL;
}

static void come(pthread_t *threads) {
    now_ms += TICK;
    for (int i = 0; i < THREADS; i++) {
        CHECK(sem_init(&may_end[i], 0, 0) == 0);
        threads[i] = thread_start(live, &may_end[i]);
    }
}

/* Both return how many heaps without a thread have memory afterwards. */
static size_t end_in_turn(void) {
    pthread_t threads[THREADS];
    come(threads);
    for (int i = 0; i < THREADS; i++) {
        CHECK(sem_post(&may_end[i]) == 0);
        thread_join(threads[i]);
    }
    CHECK(hak_validate());
    return hak_seat_idle_count();
}

static size_t end_together(void) {
    pthread_t threads[THREADS];
    come(threads);
    for (int i = 0; i < THREADS; i++)
        CHECK(sem_post(&may_end[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        thread_join(threads[i]);
    CHECK(hak_validate());
    return hak_seat_idle_count();
}

int main(void) {
    char delay[] = "HAKMEM_PURGE_DELAY=10000", *environment[] = {delay, NULL};
    hak_policy_read(environment);
    hang_limit();
    CHECK(pthread_barrier_init(&all_are_here, NULL, THREADS) == 0);
    hak_free(hak_malloc(1));
    size_t early = end_together();
    now_ms += 3 * DELAY;
    size_t rare = end_in_turn(), soon = end_together();
    now_ms += 3 * DELAY;
    size_t again = end_in_turn();
    now_ms += 3 * DELAY;
    size_t together = end_together();
    say("heaps that stay: %zu early, %zu after a while, %zu soon, %zu again, %zu together", early,
        rare, soon, again, together);
    CHECK(early == THREADS && rare <= HAK_FEW_SEATS && soon == THREADS && again <= HAK_FEW_SEATS);
    CHECK(together < THREADS); /* at the same moment each may find that few stay so far */
    return 0;
}
