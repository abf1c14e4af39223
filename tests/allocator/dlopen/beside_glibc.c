/* The library comes by dlopen into a program that runs on glibc's malloc: both heaps work side by
 * side, in threads that were there before and in new ones, and dlclose does no harm. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/pattern.h"
#include "../support/random.h"
#include "../support/threads.h"

enum { BLOCKS = 500, STEPS = 100000, THREADS = 3 };

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    size_t (*usable_size)(void *);
} hak;

static atomic_bool is_open;

static void *function(void *library, const char *name) {
    void *address = dlsym(library, name);
    CHECK_THAT(address, "%s: %s", name, dlerror());
    return address;
}

static void open_library(void) {
    void *library = dlopen(getenv("HAKMEM_LIBRARY_PATH"), RTLD_NOW | RTLD_LOCAL);
    CHECK_THAT(library, "%s", dlerror());
    *(void **)&hak.malloc = function(library, "hak_malloc");
    *(void **)&hak.calloc = function(library, "hak_calloc");
    *(void **)&hak.realloc = function(library, "hak_realloc");
    *(void **)&hak.free = function(library, "hak_free");
    *(void **)&hak.usable_size = function(library, "hak_malloc_usable_size");
    CHECK(dlclose(library) == 0); /* its blocks and threads' heaps must outlive this */
}

static void *use_both(void *argument) {
    Random random = random_from(*(const uint64_t *)argument);
    struct {
        void *theirs, *ours;
        size_t size;
    } pairs[BLOCKS] = {{NULL, NULL, 0}};
    while (!atomic_load(&is_open))
        free(malloc(random_size(&random, 12)));
    for (int step = 0; step < STEPS; step++) {
        size_t i = random_below(&random, BLOCKS);
        CHECK(pattern_marked(pairs[i].ours, pairs[i].size, i));
        CHECK(pattern_marked(pairs[i].theirs, pairs[i].size, i));
        free(pairs[i].theirs);
        hak.free(pairs[i].ours);
        pairs[i].size = random_size(&random, step % 512 ? 11 : 20);
        pairs[i].theirs = malloc(pairs[i].size);
        pairs[i].ours = hak.realloc(hak.calloc(1, 20), pairs[i].size + 1);
        CHECK(pairs[i].ours && hak.usable_size(pairs[i].ours) > pairs[i].size);
        pattern_mark(pairs[i].ours, pairs[i].size, i);
        pattern_mark(pairs[i].theirs, pairs[i].size, i);
    }
    for (int i = 0; i < BLOCKS; i++) {
        free(pairs[i].theirs);
        hak.free(pairs[i].ours);
    }
    return NULL;
}

static void in_a_child(void) {
    pid_t child = fork();
    if (child == 0) {
        hang_limit();
        uint64_t seed = 99;
        use_both(&seed);
        _exit(0);
    }
    child_must_succeed(child);
}

int main(void) {
    uint64_t seeds[THREADS] = {1, 2, 3}, seed = 4;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = thread_start(use_both, &seeds[i]);
    open_library();
    atomic_store(&is_open, true);
    use_both(&seed);
    in_a_child();
    for (int i = 0; i < THREADS; i++)
        thread_join(threads[i]);
    thread_join(thread_start(use_both, &seed));
    return 0;
}
