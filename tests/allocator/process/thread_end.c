/* Allocation while a thread ends: in destructors of thread-specific values, also in their last
 * rounds, and by libc itself after all of them (it frees the buffers of dlerror and strerror).
 * A heap that was given up and woken again must be given up again: 3,000 threads may not leak. */
#include <dlfcn.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/pattern.h"
#include "../support/threads.h"

enum { KEYS = 8, WARM = 500, THREADS = 3000, LARGE = 70000, GROWTH_KIB = 2048 };

typedef struct {
    pthread_key_t *key;
    int rounds;
    size_t size;
    unsigned char body[];
} Value;

static pthread_key_t keys[KEYS];
static atomic_int destroyed;

static Value *new_value(pthread_key_t *key, int rounds, size_t size) {
    Value *value = malloc(sizeof *value + size);
    CHECK(value);
    value->key = key;
    value->rounds = rounds;
    value->size = size;
    pattern_fill(value->body, size, size);
    return value;
}

/* Sets itself again as often as POSIX promises to call it. */
static void destroy(void *argument) {
    Value *value = argument;
    CHECK_THAT(pattern_holds(value->body, value->size, value->size), "value of %zu", value->size);
    if (value->rounds > 1)
        pthread_setspecific(*value->key, new_value(value->key, value->rounds - 1, value->size * 2));
    free(value);
    atomic_fetch_add(&destroyed, 1);
}

static void *live(void *argument) {
    unsigned number = *(const unsigned *)argument;
    size_t size = number % 64 == 0 ? LARGE : 50 + number % 2000;
    for (int i = 0; i < KEYS; i++) {
        Value *value = new_value(&keys[i], 1 + i % PTHREAD_DESTRUCTOR_ITERATIONS, size);
        CHECK(pthread_setspecific(keys[i], value) == 0);
    }
    CHECK(!dlsym(RTLD_DEFAULT, "no_such_name_anywhere"));
    CHECK(dlerror());
    CHECK(strlen(strerror(100000 + (int)(number % 7))) > 0);
    return NULL;
}

static void run(unsigned threads) {
    for (unsigned i = 0; i < threads; i++)
        thread_join(thread_start(live, &i));
}

int main(void) {
    for (int i = 0; i < KEYS; i++)
        CHECK(pthread_key_create(&keys[i], destroy) == 0);
    run(WARM);
    size_t before = rss_kib(), size_before = status_kib("VmSize:");
    run(THREADS);
    size_t after = rss_kib(), size_after = status_kib("VmSize:");
    CHECK(destroyed == (WARM + THREADS) * (2 * (1 + 2 + 3 + 4)));
    say("RSS %zu -> %zu KiB, address space %zu -> %zu KiB", before, after, size_before, size_after);
    CHECK_THAT(after <= before + GROWTH_KIB, "RSS %zu -> %zu KiB", before, after);
    CHECK_THAT(size_after <= size_before + 256 * 1024, "VmSize %zu -> %zu KiB", size_before,
               size_after);
    return 0;
}
