/* The sampled guard at its highest rate (HAKMEM_GUARD_SAMPLE=1): each misuse ends the process with
 * a report that has the stacks; blocks of it behave like any others; it never has more than its
 * share of memory. The program starts itself again for each misuse. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/overrun.h"
#include "../support/threads.h"
#include "hakmem.h"

enum { TOO_MANY = 12, SIZE = 20, TRIES = 100000, MOST = 192, KEPT = 64, HANDLED = 7, PAGE = 4096 };

static int (*validate)(void), (*profile_start)(size_t);
static void (*profile_stop)(void);
static size_t (*stats_json)(char *, size_t);

static void *function(const char *name) {
    void *address = dlsym(RTLD_DEFAULT, name);
    CHECK_THAT(address, "%s is not exported", name);
    return address;
}

/* What is asked for, to the byte, is what may be used of the guard's blocks alone. */
static char *sampled(size_t size) {
    for (int i = 0; i < TRIES; i++) {
        char *block = malloc(size);
        if (malloc_usable_size(block) == size)
            return block;
        free(block);
    }
    return NULL;
}

static bool is_right(const char *block) {
    return (uintptr_t)block % PAGE != 0;
}

static char *sampled_at(bool right) {
    char *block = sampled(SIZE);
    while (is_right(block) != right) {
        free(block);
        block = sampled(SIZE);
    }
    return block;
}

/* ---- misuses ---- */

static void write_freed(void) {
    char *volatile block = sampled(SIZE);
    free(block);
    block[3] = 1;
}
static void *free_here(void *block) {
    free(block);
    return NULL;
}
static void read_freed_by_other(void) {
    char *volatile block = sampled(SIZE);
    pthread_t thread;
    pthread_create(&thread, NULL, free_here, block);
    pthread_join(thread, NULL);
    _exit(block[3]);
}
static void overflow(void) {
    char *volatile block = sampled_at(true);
    block[32] = 1;
}
static void underflow(void) {
    char *volatile block = sampled_at(false);
    block[-1] ^= 1;
}
/* A canary is another value in each process, so what is written flips a bit of it: one and the same
 * value would be the canary in one of 255 runs. */
static void overflow_by_one(void) {
    char *volatile block = sampled_at(true);
    block[SIZE] ^= 1;
    free(block);
}
static void overflow_to_the_right(void) {
    char *volatile block = sampled_at(false);
    block[SIZE + 1000] ^= 1;
    free(block);
}
static void underflow_by_one(void) {
    char *volatile block = sampled_at(true);
    block[-1] ^= 1;
    free(block);
}
static void found_by_validate(void) {
    char *volatile block = sampled_at(true);
    block[-1] ^= 1;
    validate();
}
static void free_twice(void) {
    char *volatile block = sampled(SIZE);
    free(block);
    free(block);
}
static void free_inside(void) {
    char *volatile block = sampled(SIZE);
    free(block + 16);
}
static void free_outside(void) {
    char *volatile block = sampled_at(false);
    free(block - 64);
}
static void realloc_freed(void) {
    char *volatile block = sampled(SIZE);
    free(block);
    block = realloc(block, 100);
}

static const struct misuse {
    const char *name;
    void (*commit)(void);
    const char *line; /* the first of the report has it, */
    int signal;
    bool freed; /* and there is a stack of the free */
} misuses[] = {
    {"write_freed", write_freed, ": use after free: access(", SIGSEGV, true},
    {"read_freed_by_other", read_freed_by_other, ": use after free: access(", SIGSEGV, true},
    {"overflow", overflow, "12 bytes behind a block of 20 bytes", SIGSEGV, false},
    {"underflow", underflow, "1 bytes in front of a block of 20 bytes", SIGSEGV, false},
    {"overflow_by_one", overflow_by_one, ": overflow: free(", SIGABRT, false},
    {"overflow_to_the_right", overflow_to_the_right, "1000 bytes behind a block", SIGABRT, false},
    {"underflow_by_one", underflow_by_one, ": underflow: free(", SIGABRT, false},
    {"found_by_validate", found_by_validate, ": underflow: hak_validate(", SIGABRT, false},
    {"free_twice", free_twice, ": double free: free(", SIGABRT, true},
    {"free_inside", free_inside, "16 bytes after the start of a block of 20 bytes", SIGABRT, false},
    {"free_outside", free_outside, ": invalid pointer: free(", SIGABRT, false},
    {"realloc_freed", realloc_freed, ": use after free: realloc(", SIGABRT, true},
};
enum { MISUSES = sizeof misuses / sizeof misuses[0] };

static void on_fault(int number) {
    (void)number;
    _exit(HANDLED);
}

static void commit(const char *name, bool handled) {
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    if (handled)
        signal(SIGSEGV, on_fault);
    for (size_t i = 0; i < MISUSES; i++)
        if (strcmp(name, misuses[i].name) == 0)
            misuses[i].commit();
}

/* ---- any value ---- */

/* Whatever one value a program fills too many bytes with: children of one process try all at one
 * block, so one of them is its canary. */
static void check_any_value(void) {
    char *block = sampled_at(true);
    for (int value = 0; value < 256; value++) {
        overrun_must_end(block, value, SIZE, TOO_MANY);
        overrun_must_end(block, value, -TOO_MANY, TOO_MANY);
    }
    free(block);
}

/* ---- reports ---- */

static char text[16384];

static int run(const char *name, const char *how) {
    char *arguments[] = {"sampled_guard", (char *)name, (char *)how, NULL};
    return run_again(arguments, STDERR_FILENO, text, sizeof text);
}

/* With glibc each stack has functions of this program. */
static void check_stack(const char *name, const char *title) {
    char *at = strstr(text, title);
    CHECK_THAT(at, "%s: no stack '%s' in:\n%s", name, title, text);
#ifdef __GLIBC__
    char *end = strstr(at + strlen(title), " in thread ");
    char *frame = strstr(at, "sampled_guard+0x");
    CHECK_THAT(frame && (!end || frame < end), "%s: '%s' is not of this program:\n%s", name, title,
               text);
#endif
}

static void check_misuse(const struct misuse *m) {
    int status = run(m->name, "plain");
    CHECK_THAT(WIFSIGNALED(status) && WTERMSIG(status) == m->signal,
               "%s: wait status %d, not %d:\n%s", m->name, status, m->signal, text);
    char *end = strchr(text, '\n'), *found = strstr(text, m->line);
    CHECK_THAT(strncmp(text, "hakmem: ", 8) == 0 && found && found < end, "%s: '%s' is not in:\n%s",
               m->name, m->line, text);
    check_stack(m->name, "  found in thread");
    check_stack(m->name, "  allocated in thread");
    if (m->freed)
        check_stack(m->name, "  freed in thread");
    CHECK_THAT(m->freed == (strstr(text, "  freed in thread") != NULL), "%s:\n%s", m->name, text);
    CHECK_THAT(strstr(text, "addr2line -Cfie FILE OFFSET\n"), "%s:\n%s", m->name, text);
}

/* The program's own handler comes after the report. */
static void check_handler(void) {
    int status = run("write_freed", "handled");
    CHECK_THAT(WIFEXITED(status) && WEXITSTATUS(status) == HANDLED, "wait status %d", status);
    CHECK(strstr(text, "use after free") && strstr(text, "  freed in thread"));
}

/* ---- blocks ---- */

static size_t figure(const char *name) {
    static char json[1 << 16];
    size_t length = stats_json(json, sizeof json);
    char *at = strstr(json, name);
    CHECK(length < sizeof json && at);
    return strtoul(strchr(at, ':') + 1, NULL, 10);
}

static void check_bound(void) {
    static char *blocks[TRIES];
    size_t before = figure("\"trap_blocks\""), most = 0;
    for (int i = 0; i < TRIES; i++) {
        blocks[i] = malloc(SIZE);
        memset(blocks[i], i, SIZE);
        most += malloc_usable_size(blocks[i]) == SIZE;
    }
    CHECK_THAT(before + most <= MOST && most > MOST / 2, "%zu blocks", most);
    CHECK(figure("\"trap_blocks\"") == before + most);
    CHECK(figure("\"trap_bytes\"") >= most * SIZE && validate() == 1);
    for (int i = 0; i < TRIES; i++) {
        CHECK(blocks[i][0] == (char)i && blocks[i][SIZE - 1] == (char)i);
        free(blocks[i]);
    }
    CHECK(figure("\"trap_blocks\"") == before);
}

static bool is_readable(const char *address) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    ssize_t written = write(ends[1], address, 1);
    CHECK(written == 1 || errno == EFAULT);
    close(ends[0]);
    close(ends[1]);
    return written == 1;
}

static void check_quarantine(void) {
    char *block = sampled(SIZE);
    CHECK(is_readable(block));
    free(block);
    for (int i = 0; i < KEPT; i++) {
        CHECK(!is_readable(block));
        free(sampled(SIZE));
    }
}

static void check_sizes(void) {
    for (size_t size = 0; size <= PAGE; size += size < 64 ? 1 : 61) {
        char *block = sampled(size != 0 && size % 16 == 0 ? size - 1 : size);
        CHECK((uintptr_t)block % 16 == 0);
        memset(block, 1, malloc_usable_size(block));
        free(block);
    }
}

static void check_resized(void) {
    for (int i = 0; i < 200; i++) {
        char *block = sampled(SIZE);
        memset(block, 7, SIZE);
        block = realloc(block, i % 3 == 0 ? 1000 : i % 3 == 1 ? 100000 : 10);
        for (int j = 0; j < 10; j++)
            CHECK(block[j] == 7);
        block = realloc(block, 3000000);
        CHECK(block[9] == 7);
        free(block);
        char *zero = calloc(3, 7);
        for (int j = 0; j < 21; j++)
            CHECK(zero[j] == 0);
        free(zero);
    }
}

static void check_aligned(void) {
    for (size_t alignment = 16; alignment <= 2 * PAGE; alignment *= 2)
        for (size_t size = 1; size < 3000; size += 333) {
            void *block = aligned_alloc(alignment, size), *other = NULL;
            CHECK(block && (uintptr_t)block % alignment == 0);
            CHECK(posix_memalign(&other, alignment, size) == 0);
            CHECK((uintptr_t)other % alignment == 0);
            memset(block, 1, size);
            memset(other, 1, size);
            free(block);
            free(other);
        }
}

static void check_fork(void) {
    char *block = sampled(SIZE);
    strcpy(block, "parent");
    pid_t child = fork();
    if (child == 0) {
        CHECK(strcmp(block, "parent") == 0 && validate() == 1);
        free(block);
        CHECK(!is_readable(block));
        _exit(sampled(SIZE) != NULL ? 0 : 1);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(strcmp(block, "parent") == 0);
    malloc_trim(0);
    CHECK(strcmp(block, "parent") == 0);
    free(block);
}

int main(int count, char **arguments) {
    validate = (int (*)(void))function("hak_validate");
    profile_start = (int (*)(size_t))function("hak_profile_start");
    profile_stop = (void (*)(void))function("hak_profile_stop");
    stats_json = (size_t (*)(char *, size_t))function("hak_stats_json");
    if (count == 3) {
        commit(arguments[1], strcmp(arguments[2], "handled") == 0);
        return 0;
    }
    if (profile_start(1 << 30) == ENOTSUP)
        return SKIPPED;
    profile_stop();
    CHECK_THAT(sampled(SIZE), "no block of %d is one of the guard's", TRIES);
    check_bound();
    check_quarantine();
    check_sizes();
    check_resized();
    check_aligned();
    check_fork();
    for (size_t i = 0; i < MISUSES; i++)
        check_misuse(&misuses[i]);
    check_handler();
    check_any_value();
    return 0;
}
