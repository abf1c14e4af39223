/* Medium blocks that one thread has too many of wait for another: as many as there is room for, the
 * newest first, until the purge; also while the program forks. */
#include "bin/transfer.h"

#include "thread/thread.h"
#include "include/hakmem.h"
#include "pages/range.h"

#include "../support/check.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 4096, SMALL = 1024, BLOCKS = 100, ROUNDS = 20 };
static void *blocks[BLOCKS];
static unsigned cls;

static void come_to_each(int first, int step, size_t size) {
    for (int i = first; i < BLOCKS; i += step)
        CHECK((blocks[i] = hak_malloc(size)) != NULL);
}

static void come(size_t size) {
    come_to_each(0, 1, size);
}

static void go(void) {
    for (int i = 0; i < BLOCKS; i++)
        hak_free(blocks[i]);
}

static void *others_come(void *unused) {
    come(SIZE);
    return unused;
}

static void *others_come_to_every_second(void *size) {
    come_to_each(1, 2, *(size_t *)size);
    return size;
}

static void *others_go(void *unused) {
    go();
    return unused;
}

static void elsewhere(void *(*what)(void *), size_t *size) {
    pthread_t other;
    CHECK(pthread_create(&other, NULL, what, size) == 0);
    CHECK(pthread_join(other, NULL) == 0);
}

static void has_room_for_some(void) {
    void *taken[BLOCKS];
    size_t put = hak_transfer_put(cls, blocks, BLOCKS);
    CHECK_THAT(put > 2 && put < BLOCKS, "%zu of %d blocks", put, BLOCKS);
    CHECK(hak_transfer_count(cls) == put && hak_transfer_put(cls, blocks + put, 1) == 0);
    CHECK(hak_transfer_take(cls, taken, 2) == 2);
    CHECK(taken[0] == blocks[put - 2] && taken[1] == blocks[put - 1]);
    CHECK(hak_transfer_take(cls, taken, BLOCKS) == put - 2 && taken[0] == blocks[0]);
    CHECK(hak_transfer_take(cls, taken, BLOCKS) == 0);
}

static void what_others_allocate_goes_back(void) {
    elsewhere(others_go, NULL);
    CHECK(hak_transfer_count(cls) == 0);
}

/* Its own blocks and those of another thread in turn. */
static void leaves_some(size_t size) {
    come_to_each(0, 2, size);
    elsewhere(others_come_to_every_second, &size);
    go();
}

static void others_use_them(void) {
    leaves_some(SIZE);
    size_t waiting = hak_transfer_count(cls);
    CHECK(waiting > 2);
    elsewhere(others_come, NULL);
    CHECK(hak_transfer_count(cls) < waiting);
    go();
}

static void purge_takes_them_home(void) {
    leaves_some(SIZE);
    CHECK(hak_transfer_count(cls) > 2);
    hak_purge();
    CHECK(hak_transfer_count(cls) == 0 && hak_validate());
}

static void small_ones_do_not_wait(void) {
    come(SMALL);
    unsigned small = hak_class_of(blocks[0]);
    CHECK(hak_transfer_put(small, blocks, BLOCKS) == 0);
    go();
    leaves_some(SMALL);
    CHECK(hak_transfer_count(small) == 0);
}

/* ---- fork ---- */

static _Atomic bool ends;

static void *comes_and_goes(void *unused) {
    void *some[4];
    (void)unused;
    while (!atomic_load(&ends)) {
        size_t taken = hak_transfer_take(cls, some, 4);
        for (size_t put = 0; put < taken;) /* none while the program forks */
            put += hak_transfer_put(cls, some + put, taken - put);
    }
    return NULL;
}

/* The lock is free, and no block waits twice. */
static void child(void) {
    void *taken[BLOCKS];
    size_t count = hak_transfer_take(cls, taken, BLOCKS);
    CHECK(hak_lock_try(&hak_transfer_lock));
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            CHECK(taken[i] != taken[j]);
    _exit(0);
}

static void forks(void) {
    pthread_t other;
    come(SIZE);
    CHECK(hak_transfer_put(cls, blocks, 8) == 8);
    CHECK(pthread_create(&other, NULL, comes_and_goes, NULL) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        int status;
        pid_t pid = fork();
        if (pid == 0)
            child();
        CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    }
    atomic_store(&ends, true);
    CHECK(pthread_join(other, NULL) == 0);
}

int main(void) {
    come(SIZE);
    cls = hak_class_of(blocks[0]);
    has_room_for_some();
    what_others_allocate_goes_back();
    others_use_them();
    purge_takes_them_home();
    small_ones_do_not_wait();
    forks();
    return 0;
}
