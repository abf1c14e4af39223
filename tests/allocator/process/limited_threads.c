/* Under a limit on private memory, which counts what is usable although nobody touches it, a thread
 * with its heap costs little more than what it uses: many of them fit below a low limit. */
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/threads.h"

enum { LIMIT_MIB = 256, THREADS = 100, MOST_KIB = 600 };

static pthread_barrier_t all_there;

static void *stay_a_while(void *unused) {
    void *block = malloc(100);
    CHECK(block);
    pthread_barrier_wait(&all_there);
    pthread_barrier_wait(&all_there);
    free(block);
    return unused;
}

/* As the library asks at its start, the program runs itself again under the limit. */
static void run_limited(char *program) {
    struct rlimit limit = {(rlim_t)LIMIT_MIB << 20, (rlim_t)LIMIT_MIB << 20};
    CHECK(setrlimit(RLIMIT_DATA, &limit) == 0);
    execl(program, program, "limited", NULL);
    CHECK_THAT(false, "cannot run %s", program);
}

int main(int count, char **arguments) {
    pthread_t threads[THREADS];
    hang_limit();
    if (count == 1)
        run_limited(arguments[0]);
    CHECK(pthread_barrier_init(&all_there, NULL, THREADS + 1) == 0);
    size_t before = status_kib("VmData:");
    for (int i = 0; i < THREADS; i++)
        threads[i] = thread_start(stay_a_while, NULL);
    pthread_barrier_wait(&all_there);
    size_t each = (status_kib("VmData:") - before) / THREADS;
    pthread_barrier_wait(&all_there);
    for (int i = 0; i < THREADS; i++)
        thread_join(threads[i]);
    CHECK_THAT(each <= MOST_KIB, "%zu KiB for each thread", each);
    return 0;
}
