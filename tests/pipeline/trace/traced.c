/* What the recorder's tests run. Each mode allocates blocks of sizes that nobody else asks for, so
 * that a trace can be held against the numbers given here. */
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    EARLY = 30001,
    LATE = 30002,
    CHILD = 30003,
    EXECED = 30004,
    HANDED = 30005,
    LOOPED = 30006,
    PASSED = 30007,
    EXCHANGED = 40000 /* to 40996 */
};

static void *volatile kept;

static void pair(size_t size) {
    void *volatile block = malloc(size);
    free(block);
}

__attribute__((constructor)) static void before_main(void) {
    kept = malloc(EARLY);
}

static void after_exit(void) {
    pair(LATE);
}

/* One of each call, with sizes 20001 to 20009; 20004 moves or grows; two blocks stay. */
static void each_call(void) {
    void *block = malloc(20001);
    free(block);
    free(calloc(1, 20002));
    block = malloc(20003);
    block = realloc(block, 20004);
    block = realloc(block, 400004);
    free(block);
    free(memalign(64, 20005));
    free(aligned_alloc(128, 20096));
    if (posix_memalign(&block, 4096, 20007) == 0)
        free(block);
    free(valloc(20008));
    kept = malloc(20009);
    kept = malloc(20010);
    free(NULL);
    kept = realloc(NULL, 20011);
    kept = realloc(kept, 0);
    kept = reallocarray(NULL, 3, 6671);
}

enum { HANDED_BLOCKS = 5000 };
static void *handed[HANDED_BLOCKS];

static void *give(void *unused) {
    for (size_t i = 0; i < HANDED_BLOCKS; i++)
        handed[i] = malloc(HANDED);
    return unused;
}

static void *take(void *unused) {
    for (size_t i = 0; i < HANDED_BLOCKS; i++)
        free(handed[i]);
    return unused;
}

/* Two threads let every block grow in turn: 30007 bytes, 60014, ... */
enum { PASSED_BLOCKS = 2500, ROUNDS = 4 };
static pthread_barrier_t both;

static void *pass(void *parity) {
    for (size_t round = 0; round < ROUNDS; round++) {
        if (round % 2 == (size_t)parity)
            for (size_t i = 0; i < PASSED_BLOCKS; i++)
                handed[i] = realloc(handed[i], PASSED * (round + 1));
        pthread_barrier_wait(&both);
    }
    for (size_t i = (size_t)parity; i < PASSED_BLOCKS; i += 2)
        free(handed[i]);
    return NULL;
}

static void pass_on(void) {
    pthread_t threads[2];
    pthread_barrier_init(&both, NULL, 2);
    for (size_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, pass, (void *)i);
    for (size_t i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

/* One thread allocates, the other frees as soon as it can and takes the block for itself once more,
 * so that addresses wander between them at every moment. */
enum { BOXES = 4 };
static void *_Atomic boxes[BOXES];

static size_t nth_size(size_t i) {
    return EXCHANGED + i % 997;
}

static void *put_all(void *count) {
    for (size_t i = 0; i < (size_t)count; i++) {
        void *block = malloc(nth_size(i));
        while (boxes[i % BOXES] != NULL)
            sched_yield();
        boxes[i % BOXES] = block;
    }
    return NULL;
}

static void *take_all(void *count) {
    for (size_t i = 0; i < (size_t)count; i++) {
        void *block;
        while ((block = boxes[i % BOXES]) == NULL)
            sched_yield();
        boxes[i % BOXES] = NULL;
        free(block);
        pair(nth_size(i));
    }
    return NULL;
}

static void exchange(size_t count) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, put_all, (void *)count);
    pthread_create(&threads[1], NULL, take_all, (void *)count);
    for (size_t i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static void *churn(void *count) {
    for (size_t i = 0; i < (size_t)count; i++)
        pair(LOOPED);
    return NULL;
}

static void in_threads(size_t count, void *(*work)(void *), size_t times) {
    pthread_t threads[128];
    for (size_t i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, work, (void *)times);
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static void fork_and_exec(const char *self) {
    pid_t child = fork();
    if (child == 0) {
        pair(CHILD);
        execl(self, self, "execed", NULL);
        _exit(1);
    }
    waitpid(child, NULL, 0);
    child = vfork();
    if (child == 0) {
        execl(self, self, "execed", NULL);
        _exit(1);
    }
    waitpid(child, NULL, 0);
}

static void fork_among_threads(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, churn, (void *)200000);
    for (int i = 0; i < 8; i++) {
        pid_t child = fork();
        if (child == 0) {
            in_threads(2, churn, 100);
            pair(CHILD);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    pthread_join(thread, NULL);
}

static void for_ever(void) {
    for (size_t i = 0;; i++) {
        pair(LOOPED);
        if (i == 100000) {
            puts("ready");
            fflush(stdout);
        }
    }
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    size_t times = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
    atexit(after_exit);
    if (strcmp(mode, "calls") == 0)
        each_call();
    else if (strcmp(mode, "handed") == 0)
        in_threads(1, give, 0), in_threads(1, take, 0);
    else if (strcmp(mode, "passed") == 0)
        pass_on();
    else if (strcmp(mode, "exchanged") == 0)
        exchange(times);
    else if (strcmp(mode, "threads") == 0)
        in_threads(100, churn, times);
    else if (strcmp(mode, "churn") == 0)
        for (size_t i = 0; i < times; i++)
            in_threads(1, churn, 10);
    else if (strcmp(mode, "fork") == 0)
        fork_and_exec(argv[0]);
    else if (strcmp(mode, "execed") == 0)
        pair(EXECED);
    else if (strcmp(mode, "fork-threads") == 0)
        fork_among_threads();
    else if (strcmp(mode, "loop") == 0)
        churn((void *)times);
    else if (strcmp(mode, "closing") == 0)
        closefrom(3), churn((void *)times);
    else if (strcmp(mode, "for-ever") == 0)
        for_ever();
    else if (strcmp(mode, "killed") == 0)
        raise(SIGTERM);
    return strcmp(mode, "fails") == 0 ? 7 : 0;
}
