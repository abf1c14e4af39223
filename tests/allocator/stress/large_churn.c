/* Several threads take and free large blocks among small ones, so that pages change hands between
   large blocks and slabs while blocks of other threads may still wait in a quarantine. */
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/random.h"
#include "../support/threads.h"

enum { THREADS = 4, ROUNDS = 20000 / TEST_SHARE, SMALL = 1024, LARGE = 80000 };

static void round_of(Random *random, unsigned char mark) {
    size_t large = LARGE + random_below(random, 65536), small = 1 + random_below(random, SMALL);
    unsigned char *first = malloc(large), *second = malloc(small);
    CHECK(first && second);
    first[0] = first[large - 1] = mark;
    memset(second, mark, small);
    CHECK(first[0] == mark && first[large - 1] == mark && second[small - 1] == mark);
    free(first);
    free(second);
}

static void *churn(void *argument) {
    Random random = random_from(*(const uint64_t *)argument);
    for (int round = 0; round < ROUNDS; round++)
        round_of(&random, (unsigned char)round);
    return NULL;
}

int main(void) {
    uint64_t seeds[THREADS] = {1, 2, 3, 4};
    threads_run(THREADS, churn, seeds, sizeof *seeds);
    return 0;
}
