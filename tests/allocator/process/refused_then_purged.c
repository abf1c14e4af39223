/* At the limit of private memory (ulimit -d) blocks of one size are freed in random order, by the
 * main thread and by one that ends. What the allocator keeps for such sizes must then make room for
 * others: a block of half the limit can be had, and small ones of another size. */
#include <stdlib.h>
#include <sys/resource.h>

#include "../support/check.h"
#include "../support/pattern.h"
#include "../support/random.h"
#include "../support/threads.h"

enum { LIMIT_MIB = 128, HALF = 60 << 20, MOST = 2000000 };

static void *blocks[MOST];

static size_t take_all(size_t size) {
    size_t count = 0;
    while (count < MOST && (blocks[count] = malloc(size))) {
        pattern_mark(blocks[count], size, count);
        count++;
    }
    return count;
}

static void *take_and_free(void *argument) {
    free_in_random_order(blocks, take_all(*(const size_t *)argument));
    return NULL;
}

static void room_is_made(size_t size) {
    char *half = malloc(HALF);
    CHECK_THAT(half, "nothing after blocks of %zu", size);
    half[0] = half[HALF - 1] = 1;
    free(half);
}

/* The system keeps its stack, which the next threads get: they need no room within the limit. */
static void *make_stack(void *unused) {
    free(malloc(1));
    return unused;
}

int main(void) {
    static const size_t sizes[] = {64, 5000, 1000, 30000, 200000, 100};
    struct rlimit limit = {(rlim_t)LIMIT_MIB << 20, (rlim_t)LIMIT_MIB << 20};
    hang_limit();
    thread_join(thread_start(make_stack, NULL));
    CHECK(setrlimit(RLIMIT_DATA, &limit) == 0);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t size = sizes[i];
        take_and_free(&size);
        room_is_made(size);
        thread_join(thread_start(take_and_free, &size));
        room_is_made(size);
        size_t other = size / 2 + 8, count = take_all(other);
        CHECK_THAT(count * other > HALF, "only %zu blocks of %zu after %zu", count, other, size);
        free_in_random_order(blocks, count);
    }
    return 0;
}
