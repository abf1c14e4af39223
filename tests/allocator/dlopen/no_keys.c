/* The library comes into a process that has taken all thread-specific keys: it cannot notice when a
 * thread ends. Nothing is lost with the thread nevertheless, a block of any size can be had, and in
 * a forked child, too, whatever the other threads were doing. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/threads.h"
#include "hakmem.h"

/* A heap takes some two MiB; the guard keeps freed blocks back. */
enum { THREADS = 200, SIZES = 20, MOST_GROWTH = 64 << 20, FORKS = 300, AT_ONCE = 2 };

static __typeof__(&hak_malloc) allocate;
static __typeof__(&hak_free) give_back;
static __typeof__(&hak_get_usage) ask_usage;

static void *found(void *library, const char *name) {
    void *address = dlsym(library, name);
    CHECK_THAT(address, "no %s", name);
    return address;
}

static void load(void) {
    void *library = dlopen(getenv("HAKMEM_LIBRARY_PATH"), RTLD_NOW | RTLD_LOCAL);
    CHECK_THAT(library, "%s", dlerror());
    allocate = (__typeof__(allocate))found(library, "hak_malloc");
    give_back = (__typeof__(give_back))found(library, "hak_free");
    ask_usage = (__typeof__(ask_usage))found(library, "hak_get_usage");
}

static void *use_all_sizes(void *unused) {
    for (size_t i = 0; i < SIZES; i++) {
        void *block = allocate((size_t)1 << i);
        CHECK(block);
        memset(block, 1, (size_t)1 << i);
        give_back(block);
    }
    return unused;
}

static size_t committed(void) {
    hak_usage usage;
    ask_usage(&usage);
    return usage.committed;
}

static atomic_bool over;

static void *use_until_the_end(void *unused) {
    while (!over)
        give_back(allocate(100));
    return unused;
}

static void fork_meanwhile(void) {
    pthread_t others[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++)
        others[i] = thread_start(use_until_the_end, NULL);
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        if (child == 0) {
            hang_limit();
            _exit(allocate(100) == NULL);
        }
        child_must_succeed(child);
    }
    over = true;
    for (int i = 0; i < AT_ONCE; i++)
        thread_join(others[i]);
}

int main(void) {
    pthread_key_t key;
    hang_limit();
    while (pthread_key_create(&key, NULL) == 0)
        continue;
    load();
    use_all_sizes(NULL);
    thread_join(thread_start(use_all_sizes, NULL));
    size_t before = committed();
    for (int i = 0; i < THREADS; i++)
        thread_join(thread_start(use_all_sizes, NULL));
    size_t after = committed();
    CHECK_THAT(after <= before + MOST_GROWTH, "%zu -> %zu bytes", before, after);
    fork_meanwhile();
    return 0;
}
