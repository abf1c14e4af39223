/* Heap profiles: what they tell is held against what the program did, within six standard errors;
 * each function of the family is counted; blocks that are samples behave like any others. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/threads.h"
#include "hakmem.h"

enum { RATE = 4096, MANY = 60000 / TEST_SHARE, FEW = MANY / 60 };

static int (*start)(size_t), (*dump)(const char *), (*validate)(void);
static void (*stop)(void);
static char folder[] = "/tmp/hakmem-profile-XXXXXX", path[64];
static void *blocks[MANY];

static void *function(const char *name) {
    void *address = dlsym(RTLD_DEFAULT, name);
    CHECK_THAT(address, "%s is not exported", name);
    return address;
}

/* ---- reading ---- */

typedef struct found {
    double live, allocated; /* blocks, as estimated */
    unsigned samples;
} found;

/* 1 - exp(-x), the chance of a block of x rates to be a sample. */
static double chance(double x) {
    double term = x, sum = 0;
    if (x > 20)
        return 1;
    for (int n = 1; n < 100; term *= -x / ++n)
        sum += term;
    return sum;
}

/* Blocks whose size lies from `low` to `high`. */
static found read_profile(size_t low, size_t high) {
    found all = {0};
    char line[4096];
    FILE *file = fopen(path, "r");
    CHECK(file != NULL && fgets(line, sizeof line, file) && strstr(line, "@ heap_v2/4096"));
    unsigned long live, live_bytes, allocated, bytes;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "%lu: %lu [%lu: %lu] @", &live, &live_bytes, &allocated, &bytes) == 4 &&
            allocated != 0 && bytes / allocated >= low && bytes / allocated <= high) {
            double p = chance((double)bytes / (double)allocated / (double)RATE);
            all.live += (double)live / p;
            all.allocated += (double)allocated / p;
            all.samples += (unsigned)allocated;
        }
    fclose(file);
    return all;
}

static found look(size_t low, size_t high) {
    CHECK_THAT(dump(path) == 0, "no profile at %s", path);
    struct stat info;
    CHECK(stat(path, &info) == 0 && (info.st_mode & 0777) == 0600);
    return read_profile(low, high);
}

/* The count of samples is nearly Poisson's, so its variance is its mean. */
static void check_near(double estimate, double truth, size_t size, const char *what) {
    double p = chance((double)size / (double)RATE), error = estimate - truth;
    CHECK_THAT(error * error <= 36 * (truth / p + 1 / (p * p)),
               "%s of %zu bytes: %d are there, %d are estimated", what, size, (int)truth,
               (int)estimate);
}

/* ---- doing ---- */

__attribute__((noinline)) static void allocate(size_t size, int count) {
    for (int i = 0; i < count; i++) {
        blocks[i] = malloc(size);
        CHECK(blocks[i] != NULL && malloc_usable_size(blocks[i]) >= size);
        memset(blocks[i], i, size);
    }
}

static void *free_odd_ones(void *count) {
    for (int i = 1; i < *(int *)count; i += 2)
        free(blocks[i]);
    return NULL;
}

static void free_in_another_thread(int count) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, free_odd_ones, &count) == 0);
    pthread_join(thread, NULL);
}

static void check_blocks(size_t size, int count) {
    allocate(size, count);
    for (int i = 0; i < count; i++)
        free(malloc(size)); /* counted, and not alive */
    found f = look(size, size);
    check_near(f.live, count, size, "live blocks");
    check_near(f.allocated, 2.0 * count, size, "allocated blocks");
    free_in_another_thread(count);
    check_near(look(size, size).live, (count + 1) / 2, size, "live blocks");
    for (int i = 0; i < count; i += 2)
        free(blocks[i]);
    CHECK(look(size, size).live == 0);
}

/* ---- the family: each function by a size of its own ---- */

static void check_zero(void) {
    for (int i = 0; i < FEW; i++) {
        char *block = calloc(1, 5008);
        for (int j = 0; j < 5008; j += 8)
            CHECK(block[j] == 0);
        memset(block, 1, 5008);
        free(block);
    }
    check_near(look(5008, 5008).allocated, FEW, 5008, "calloc");
}

static void check_aligned(void) {
    void *block;
    for (int i = 0; i < FEW; i++) {
        CHECK(posix_memalign(&block, 256, 6144) == 0 && (uintptr_t)block % 256 == 0);
        free(block);
        block = aligned_alloc(4096, 12288);
        CHECK(block != NULL && (uintptr_t)block % 4096 == 0);
        free(block);
    }
    check_near(look(6144, 6144).allocated, FEW, 6144, "posix_memalign");
    check_near(look(12288, 12288).allocated, FEW, 12288, "aligned_alloc");
}

static void check_resized(void) {
    for (int i = 0; i < FEW; i++) {
        char *block = malloc(1000);
        memset(block, 7, 1000);
        block = realloc(block, 30000);
        block = realloc(block, 300000);
        block = realloc(block, 700000);
        for (int j = 0; j < 1000; j++)
            CHECK(block[j] == 7);
        blocks[i] = block;
    }
    found f = look(700000, 700000);
    check_near(f.live, FEW, 700000, "realloc");
    for (int i = 0; i < FEW; i++)
        free(blocks[i]);
    CHECK(look(700000, 700000).live == 0);
}

static void check_child(void) {
    allocate(333, FEW);
    pid_t child = fork();
    if (child == 0) {
        check_near(look(333, 333).live, FEW, 333, "live blocks in a child");
        for (int i = 0; i < FEW; i++)
            free(blocks[i]);
        CHECK(look(333, 333).live == 0);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    check_near(look(333, 333).live, FEW, 333, "live blocks in the parent");
}

static void check_errors(void) {
    CHECK(dump("/nowhere/at/all") == ENOENT);
    char long_path[5000];
    memset(long_path, 'x', sizeof long_path);
    long_path[sizeof long_path - 1] = '\0';
    CHECK(dump(long_path) == ENAMETOOLONG);
}

/* What a process left that was killed while it wrote makes way; what somebody else has there stays,
 * and so does what another process is writing. */
static void check_unfinished(void) {
    char part[sizeof path + 8];
    snprintf(part, sizeof part, "%s.part", path);
    fclose(fopen(part, "w"));
    CHECK(chmod(part, 0644) == 0 && dump(path) == EEXIST && access(part, F_OK) == 0);
    CHECK(chmod(part, 0600) == 0);
    int writer = open(part, O_WRONLY);
    CHECK(writer >= 0 && flock(writer, LOCK_EX) == 0);
    CHECK(dump(path) == EEXIST && access(part, F_OK) == 0 && close(writer) == 0);
    CHECK(dump(path) == 0 && access(part, F_OK) != 0);
    CHECK(symlink(path, part) == 0 && dump(path) == EEXIST);
    CHECK(unlink(part) == 0 && dump(path) == 0);
}

/* Beyond the limit of file sizes there is an error, and no signal. */
static void check_file_limit(void) {
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit little = {100, 100};
        CHECK(setrlimit(RLIMIT_FSIZE, &little) == 0);
        _exit(dump(path) == EFBIG ? 0 : 1);
    }
    child_must_succeed(child);
}

static void check_stop(void) {
    stop();
    unsigned before = look(77, 77).samples;
    allocate(77, MANY);
    CHECK(look(77, 77).samples == before);
    CHECK(start(RATE) == 0);
    allocate(77, MANY);
    CHECK(look(77, 77).samples > before);
}

/* A loop that a magazine serves from its first round on, because it did before the start, too. */
static void pass_by(int rounds) {
    for (int i = 0; i < rounds; i++) {
        void *volatile block = malloc(64);
        free(block);
    }
}

int main(void) {
    pass_by(2);
    start = (int (*)(size_t))function("hak_profile_start");
    dump = (int (*)(const char *))function("hak_profile_dump");
    stop = (void (*)(void))function("hak_profile_stop");
    validate = (int (*)(void))function("hak_validate");
    CHECK(dump("/tmp/never") == EINVAL);
    int error = start(RATE);
    if (error == ENOTSUP)
        return SKIPPED;
    CHECK(error == 0 && mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/heap", folder);
    pass_by(MANY);
    check_near(look(64, 64).allocated, MANY, 64, "blocks that pass by");
    check_blocks(100, MANY);
    check_blocks(3000, FEW);
    check_blocks(50000, FEW);
    check_blocks(200000, FEW / 8);
    check_zero();
    check_aligned();
    check_resized();
    check_child();
    check_errors();
    check_unfinished();
    check_file_limit();
    check_stop();
    CHECK(validate() == 1);
    unlink(path);
    rmdir(folder);
    return 0;
}
