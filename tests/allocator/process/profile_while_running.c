/* A program that was started with HAKMEM_PROFILE_RATE=0 samples nothing. A signal begins a heap
 * profile, and the next one writes it; the option of the rate ends it and begins it again. */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/folder.h"
#include "../support/threads.h"
#include "hakmem.h"

enum { MANY = 20000, SIZE = 1000 };

static char folder[] = "/tmp/hakmem-signal-XXXXXX";
static __typeof__(&hak_policy_set) set;
static __typeof__(&hak_policy_get) get;

static size_t rate(void) {
    size_t value;
    CHECK(get("profile_rate", &value) == 0);
    return value;
}

static void allocate(int count) {
    for (int i = 0; i < count; i++) {
        void *volatile block = malloc(SIZE);
        CHECK(block);
        free(block);
    }
}

/* Samples since the start in the file with this number; -1: there is none. */
static long samples(const char *where, int number) {
    char path[400];
    unsigned long live, bytes, all;
    snprintf(path, sizeof path, "%s/p.%d.%d.heap", where, (int)getpid(), number);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return -1;
    CHECK(fscanf(file, "heap profile: %lu: %lu [%lu:", &live, &bytes, &all) == 3);
    fclose(file);
    return (long)all;
}

/* By the signal, at a malloc that comes to a slow path. */
static long written(const char *where, int number) {
    CHECK(raise(SIGUSR1) == 0);
    while (samples(where, number) < 0)
        allocate(MANY);
    return samples(where, number);
}

static void check_in(const char *where) {
    allocate(MANY);
    CHECK(rate() == 0);
    CHECK(raise(SIGUSR1) == 0);
    while (rate() == 0)
        CHECK(malloc(SIZE)); /* kept: its magazine would serve a loop for ever */
    CHECK(samples(where, 1) < 0);
    for (int i = 0; i < 20; i++)
        allocate(MANY); /* 400 MB: 760 samples are expected */
    long first = written(where, 1);
    CHECK_THAT(first > 300, "%ld samples", first);
    CHECK(set("profile_rate", "0") == 0 && set("profile_rate", "-1") == EINVAL);
    allocate(20 * MANY);
    CHECK(set("purge_delay", "100") == 0); /* says nothing of the rate */
    CHECK(set("profile_rate", "1000000000000") == 0);
    CHECK_THAT(written(where, 2) <= first + 1, "%ld samples, then %ld", first, samples(where, 2));
    CHECK(set("profile_rate", "100000") == 0);
    allocate(20 * MANY);
    CHECK_THAT(written(where, 3) > first + 1000, "%ld samples", samples(where, 3));
}

/* The program again, with files in a folder of its own. */
static void run_in(char *where) {
    char prefix[64], number[8];
    snprintf(prefix, sizeof prefix, "%s/p", where);
    snprintf(number, sizeof number, "%d", SIGUSR1);
    setenv("HAKMEM_PROFILE_HEAP", prefix, 1);
    setenv("HAKMEM_PROFILE_RATE", "0", 1);
    setenv("HAKMEM_PROFILE_SIGNAL", number, 1);
    child_must_succeed(start_again((char *[]){"profile_while_running", where, NULL}));
    remove_folder(where);
}

int main(int count, char **arguments) {
    hang_limit();
    int (*start)(size_t) = (int (*)(size_t))dlsym(RTLD_DEFAULT, "hak_profile_start");
    set = (__typeof__(set))dlsym(RTLD_DEFAULT, "hak_policy_set");
    get = (__typeof__(get))dlsym(RTLD_DEFAULT, "hak_policy_get");
    CHECK(start && set && get);
    if (count == 2) {
        check_in(arguments[1]);
        return 0;
    }
    if (start(4096) == ENOTSUP)
        return SKIPPED;
    CHECK(mkdtemp(folder));
    run_in(folder);
    return 0;
}
