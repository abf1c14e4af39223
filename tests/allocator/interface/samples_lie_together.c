/* Samples of a heap profile that are short share pages, and end wherever they are freed: by their
 * thread, by another one, by one that has no heap any more. A program that asked for cold blocks
 * before has samples of its own pages, and one that began a profile gets no cold blocks. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/check.h"

enum { MANY = 1000, PAGE = 65536, COLD = 1 };

static int (*start)(size_t), (*dump)(const char *), (*validate)(void);
static void (*stop)(void);
static void *(*new_by)(size_t, unsigned char);
static char path[] = "/tmp/hakmem-samples-XXXXXX";
static char *blocks[MANY];
static size_t size = 100;

static void *function(const char *name) {
    void *address = dlsym(RTLD_DEFAULT, name);
    CHECK_THAT(address, "%s is not exported", name);
    return address;
}

/* Each malloc of so many bytes is a sample. */
static void begin(void) {
    CHECK(start(1) == 0);
}

static void allocate_all(void) {
    for (int i = 0; i < MANY; i++) {
        blocks[i] = malloc(size);
        memset(blocks[i], i, size);
    }
}

static void check_contents(void) {
    for (int i = 0; i < MANY; i++)
        for (size_t j = 0; j < size; j++)
            CHECK(blocks[i][j] == (char)i);
}

static void *free_all(void *unused) {
    for (int i = 0; i < MANY; i++)
        free(blocks[i]);
    return unused;
}

static size_t neighbours(void) {
    size_t found = 0;
    for (int i = 1; i < MANY; i++)
        found += (uintptr_t)blocks[i] / PAGE == (uintptr_t)blocks[i - 1] / PAGE;
    return found;
}

/* Live samples of `size` bytes. */
static unsigned long live(void) {
    unsigned long all = 0, count, live_bytes, allocated, bytes;
    char line[4096];
    CHECK(dump(path) == 0);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL && fgets(line, sizeof line, file) != NULL);
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "%lu: %lu [%lu: %lu] @", &count, &live_bytes, &allocated, &bytes) == 4)
            all += bytes == size * allocated ? count : 0;
    fclose(file);
    return all;
}

static void they_share_pages(void) {
    begin();
    allocate_all();
    CHECK_THAT(neighbours() > MANY / 2, "%zu of %d lie together", neighbours(), MANY);
    check_contents();
    CHECK(live() == MANY);
    free_all(NULL);
    CHECK(live() == 0);
}

static void longer_ones_do(void) {
    size = 5000;
    they_share_pages();
}

static void another_thread_frees_them(void) {
    pthread_t thread;
    begin();
    allocate_all();
    CHECK(pthread_create(&thread, NULL, free_all, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0 && live() == 0);
    allocate_all(); /* in the same places */
    CHECK(live() == MANY);
}

static pthread_key_t key;

/* In the last of four rounds. */
static void free_late(void *round) {
    if ((uintptr_t)round < PTHREAD_DESTRUCTOR_ITERATIONS)
        CHECK(pthread_setspecific(key, (char *)round + 1) == 0);
    else
        free_all(NULL);
}

static void *set_key(void *unused) {
    free(malloc(1));
    CHECK(pthread_setspecific(key, (void *)1) == 0);
    return unused;
}

/* Its heap may be gone by then. */
static void a_destructor_frees_them(void) {
    pthread_t thread;
    begin();
    allocate_all();
    CHECK(pthread_key_create(&key, free_late) == 0);
    CHECK(pthread_create(&thread, NULL, set_key, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0 && live() == 0);
}

static void they_end_after_the_profile(void) {
    begin();
    allocate_all();
    stop();
    for (int i = 0; i < MANY; i++)
        CHECK(new_by(size, COLD)); /* a magazine of cold blocks would be deep by now */
    check_contents();
    free_all(NULL);
    CHECK(live() == 0);
}

/* Cold blocks are freed on the hot path, so no sample may lie there. */
static void hints_came_first(void) {
    void *cold = new_by(size, COLD);
    free(cold);
    free(new_by(size, COLD));
    begin();
    allocate_all();
    CHECK(neighbours() == 0 && live() == MANY);
    free(new_by(size, COLD));
    check_contents();
    free_all(NULL);
    CHECK(live() == 0);
}

static void in_a_child(void (*test)(void)) {
    pid_t child = fork();
    if (child == 0) {
        test();
        CHECK(validate() == 1);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_THAT(status == 0, "status %d", status);
}

int main(void) {
    start = (int (*)(size_t))function("hak_profile_start");
    dump = (int (*)(const char *))function("hak_profile_dump");
    stop = (void (*)(void))function("hak_profile_stop");
    validate = (int (*)(void))function("hak_validate");
    new_by = (void *(*)(size_t, unsigned char))function("_Znwm12__hot_cold_t");
    int file = mkstemp(path);
    CHECK(file >= 0 && close(file) == 0);
    pid_t child = fork();
    if (child == 0)
        _exit(start(1) == ENOTSUP ? SKIPPED : 0);
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    if (WEXITSTATUS(status) == SKIPPED)
        return SKIPPED;
    in_a_child(they_share_pages);
    in_a_child(longer_ones_do);
    in_a_child(another_thread_frees_them);
    in_a_child(a_destructor_frees_them);
    in_a_child(they_end_after_the_profile);
    in_a_child(hints_came_first);
    unlink(path);
    return 0;
}
