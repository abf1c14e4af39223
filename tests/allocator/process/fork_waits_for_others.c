/* The handler of another library, which fork calls behind ours, waits for a thread of the program
 * that allocates: as libc itself waits for its list of files, which a thread may hold for hours
 * that reads from a terminal. Meanwhile that thread must get all that it asks for, and memory that
 * is freed must be used again. */
#include <malloc.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/pattern.h"
#include "../support/threads.h"

enum { FORKS = 3, ROUNDS = 5, BLOCKS = 300, MIB = 1 << 20 };

static sem_t wanted, served;
static void *kept[BLOCKS];

static size_t size_of(int i) {
    return i % 50 == 0 ? (size_t)MIB : i % 7 == 0 ? 30000 : (size_t)i * 8 + 1;
}

static void check_and_free_all(void) {
    for (int i = 0; i < BLOCKS; i++) {
        CHECK(kept[i] == NULL || pattern_holds(kept[i], size_of(i), (uint64_t)i));
        free(kept[i]);
        kept[i] = NULL;
    }
}

static void *a_thread_that_ends(void *unused) {
    free(malloc(100));
    return unused;
}

/* What it leaves is used by the forking thread and by the child. */
static void allocate_much(void) {
    for (int round = 0; round < ROUNDS; round++) {
        check_and_free_all();
        for (int i = 0; i < BLOCKS; i++) {
            kept[i] = malloc(size_of(i));
            CHECK(kept[i]);
            pattern_fill(kept[i], size_of(i), (uint64_t)i);
        }
    }
    thread_join(thread_start(a_thread_that_ends, NULL));
    malloc_trim(0);
}

static void *serve(void *unused) {
    for (;;) {
        while (sem_wait(&wanted) != 0)
            continue;
        allocate_much();
        sem_post(&served);
    }
    return unused;
}

static void wait_for_the_thread(void) {
    sem_post(&wanted);
    while (sem_wait(&served) != 0)
        continue;
}

/* Registered before the constructors of all libraries, and so called after their handlers. */
static void register_early(int count, char **arguments, char **environment) {
    (void)count, (void)arguments, (void)environment;
    pthread_atfork(wait_for_the_thread, NULL, NULL);
}
__attribute__((section(".preinit_array"),
               used)) static void (*const early)(int, char **, char **) = register_early;

static void fork_child(void) {
    pid_t child = fork();
    if (child == 0) {
        hang_limit();
        check_and_free_all();
        thread_join(thread_start(a_thread_that_ends, NULL));
        allocate_much();
        _exit(0);
    }
    child_must_succeed(child);
}

int main(void) {
    hang_limit();
    CHECK(sem_init(&wanted, 0, 0) == 0 && sem_init(&served, 0, 0) == 0);
    thread_start(serve, NULL);
    fork_child();
    size_t before = rss_kib();
    for (int i = 1; i < FORKS; i++)
        fork_child();
    size_t after = rss_kib();
    CHECK_THAT(after <= before + before / 2, "%zu KiB after a fork, %zu later", before, after);
    return 0;
}
