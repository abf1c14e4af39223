/* Threads use many sizes a little, free all and sleep. A heap each is all that stays, and of that
 * what its owner needs to go on: after malloc_trim, and by itself while any thread allocates. Then
 * they use the same sizes again. */
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/threads.h"
#include "../support/trim.h"

enum { THREADS = 200, SIZES = 40, STEP = 48, OF_EACH = 3, ROUNDS = 2 };
enum { KIB_EACH = 12, SLACK_KIB = 1024 };

static pthread_barrier_t started, used, looked_at;

static void use(size_t mark) {
    unsigned char *blocks[SIZES * OF_EACH];
    for (size_t i = 0; i < SIZES * OF_EACH; i++) {
        size_t size = 16 + i % SIZES * STEP;
        CHECK(blocks[i] = malloc(size));
        memset(blocks[i], (int)(mark + i), size);
    }
    for (size_t i = 0; i < SIZES * OF_EACH; i++) {
        size_t size = 16 + i % SIZES * STEP;
        CHECK(blocks[i][0] == (unsigned char)(mark + i) &&
              blocks[i][size - 1] == (unsigned char)(mark + i));
        free(blocks[i]);
    }
}

static void *live(void *argument) {
    pthread_barrier_wait(&started);
    pthread_barrier_wait(&looked_at);
    for (size_t round = 0; round < ROUNDS; round++) {
        use((size_t)argument + round);
        pthread_barrier_wait(&used);
        pthread_barrier_wait(&looked_at);
    }
    return NULL;
}

static void round_of(void (*goes_back)(size_t allowed_kib), size_t allowed) {
    pthread_barrier_wait(&used);
    goes_back(allowed);
    pthread_barrier_wait(&looked_at);
}

int main(void) {
    static pthread_t threads[THREADS];
    hang_limit();
    if (nothing_is_taken())
        return SKIPPED;
    CHECK(pthread_barrier_init(&started, NULL, THREADS + 1) == 0);
    CHECK(pthread_barrier_init(&used, NULL, THREADS + 1) == 0);
    CHECK(pthread_barrier_init(&looked_at, NULL, THREADS + 1) == 0);
    for (size_t i = 0; i < THREADS; i++)
        threads[i] = thread_start(live, (void *)i);
    pthread_barrier_wait(&started);
    size_t allowed = rss_kib() + (size_t)THREADS * KIB_EACH + SLACK_KIB;
    pthread_barrier_wait(&looked_at);
    round_of(goes_back_by_trim, allowed);
    round_of(goes_back_by_itself, allowed);
    for (int i = 0; i < THREADS; i++)
        thread_join(threads[i]);
    return 0;
}
