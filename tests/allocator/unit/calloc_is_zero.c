/* calloc is zeroed, also when it reuses what others left dirty: same thread, other thread, purged.
 */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/pattern.h"
#include "../support/random.h"
#include "../support/threads.h"

enum { BLOCKS = 64, BIG = 4 << 20 };

/* Leaves `size` dirty in every place the allocator could take its next blocks from. */
static void soil(size_t size) {
    void *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(size);
        CHECK(blocks[i]);
        memset(blocks[i], 0xA5, malloc_usable_size(blocks[i]));
    }
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[(i * 7) % BLOCKS]);
}

static void expect_zero(size_t count, size_t size) {
    void *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = calloc(count, size);
        CHECK_THAT(blocks[i] && all_zero(blocks[i], count * size), "calloc(%zu, %zu)", count, size);
        memset(blocks[i], 0x5A, malloc_usable_size(blocks[i]));
    }
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
}

static void *soil_sizes(void *unused) {
    for (size_t size = 1; size <= 40000; size += size / 4 + 1)
        soil(size);
    return unused;
}

static void reused_by_size(void) {
    for (size_t size = 1; size <= 40000; size += size / 9 + 1) {
        soil(size);
        expect_zero(1, size);
        expect_zero(size, 1);
    }
}

static void reused_in_random_order(void) {
    Random random = random_from(3);
    for (int i = 0; i < 200000; i++) {
        size_t size = random_size(&random, 13);
        unsigned char *block = calloc(1, size);
        CHECK_THAT(block && all_zero(block, size), "calloc(1, %zu) in turn %d", size, i);
        memset(block, 0xFF, size);
        free(block);
    }
}

static void big_blocks(void) {
    for (size_t size = 50000; size <= BIG; size += size / 2) {
        for (int i = 0; i < 3; i++) {
            unsigned char *block = malloc(size);
            memset(block, 0xA5, malloc_usable_size(block));
            free(block);
            block = calloc(size, 1);
            CHECK_THAT(block && all_zero(block, size), "calloc(%zu, 1)", size);
            free(block);
        }
    }
}

int main(void) {
    reused_by_size();
    thread_join(thread_start(soil_sizes, NULL));
    reused_by_size();
    soil_sizes(NULL);
    malloc_trim(0);
    reused_by_size();
    reused_in_random_order();
    big_blocks();
    return 0;
}
