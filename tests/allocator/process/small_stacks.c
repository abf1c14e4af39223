/* Threads with the smallest stack there is (16 KiB, of which the C library takes a part): no path
 * of the allocator may need much of it, also not the rare ones. */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "../support/check.h"
#include "../support/pattern.h"
#include "../support/random.h"
#include "../support/threads.h"

enum { WAVES = 10, THREADS = 4, BLOCKS = 2000, ROUNDS = 6 };

static void refill(void **blocks, Random *random) {
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(random_size(random, i % 400 ? 13 : 22));
        CHECK(blocks[i]);
    }
}

static void *work(void *seed) {
    Random random = random_from(*(const unsigned *)seed);
    void **blocks = calloc(BLOCKS, sizeof *blocks);
    CHECK(blocks);
    for (int round = 0; round < ROUNDS; round++) {
        refill(blocks, &random);
        for (int i = 0; i < BLOCKS; i += 3) {
            blocks[i] = realloc(blocks[i], random_size(&random, 17) + 1);
            CHECK(blocks[i]);
        }
        for (int i = 0; i < BLOCKS; i++)
            free(blocks[(i * 7) % BLOCKS]);
    }
    free(blocks);
    return NULL;
}

int main(void) {
    pthread_attr_t smallest;
    unsigned seeds[THREADS];
    hang_limit();
    CHECK(pthread_attr_init(&smallest) == 0);
    CHECK(pthread_attr_setstacksize(&smallest, (size_t)PTHREAD_STACK_MIN) == 0);
    for (unsigned wave = 0; wave < WAVES; wave++) {
        pthread_t threads[THREADS];
        for (unsigned i = 0; i < THREADS; i++) {
            seeds[i] = wave * THREADS + i;
            CHECK(pthread_create(&threads[i], &smallest, work, &seeds[i]) == 0);
        }
        for (int i = 0; i < THREADS; i++)
            CHECK(pthread_join(threads[i], NULL) == 0);
    }
    return 0;
}
