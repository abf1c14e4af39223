/* A program that is linked statically as a whole, with libhakmem.a: blocks of all sizes from all
 * threads, after fork too, come from the library. */
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/check.h"
#include "hakmem.h"

enum { THREADS = 4, BLOCKS = 1000, ROUNDS = 20, LARGE = 3 << 20 };

static size_t size_of(int i) {
    return (size_t)(i * 37 % 5000) + 1;
}

static void *work(void *unused) {
    char *blocks[BLOCKS];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < BLOCKS; i++) {
            blocks[i] = malloc(size_of(i));
            CHECK(blocks[i]);
            memset(blocks[i], round, size_of(i));
        }
        for (int i = 0; i < BLOCKS; i++) {
            CHECK(blocks[i][0] == round && blocks[i][size_of(i) - 1] == round);
            free(blocks[i]);
        }
    }
    return unused;
}

static void child_works(void) {
    int status = 0;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        work(NULL);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(void) {
    pthread_t threads[THREADS];
    hak_usage usage;
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    child_works();
    char *large = malloc(LARGE);
    CHECK(large);
    hak_get_usage(&usage);
    CHECK_THAT(usage.large >= LARGE, "%zu bytes in large blocks: malloc is libc's", usage.large);
    large = realloc(large, (size_t)3 * LARGE);
    CHECK(large);
    free(large);
    CHECK(hak_validate() == 1);
    return 0;
}
