#include "requests.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/pattern.h"
#include "../support/threads.h"
#include "hakmem.h"

#ifndef TEST_APART
#define TEST_APART 70 /* blocks of 1 GiB; the guard, which would copy them, does without */
#endif
static const size_t sizes[] = {16, 200, 1500, 6000, 30000, 100000, 300000, 1 << 20};
enum {
    SIZES = sizeof sizes / sizeof *sizes,
    EACH = 30,
    SOME = 2,
    MANY = 6000,
    MANY_LARGE = 80,
    DENSE = 1700, /* blocks of DENSE_SIZE: 48 MiB */
    DENSE_SIZE = 30000,
    SMALL = 64,
    APART = TEST_APART
};
#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

static void *given(void *block, size_t size) {
    CHECK_THAT(block || errno == ENOMEM, "errno %d for %zu", errno, size);
    if (block)
        pattern_mark(block, size, size);
    errno = 0;
    return block;
}

static void give_back(void *block, size_t size) {
    if (block)
        CHECK(pattern_marked(block, size, size));
    free(block);
}

static void *resized(void *block, size_t old_size, size_t *size) {
    void *other = realloc(block, *size);
    if (!other) {
        CHECK(errno == ENOMEM);
        *size = old_size;
        return block;
    }
    CHECK(pattern_holds(other, 256 < old_size ? 256 : old_size / 2, old_size));
    pattern_mark(other, *size, *size);
    return other;
}

static void one_size(size_t size) {
    void *blocks[EACH] = {NULL};
    int count = size < 10000 ? EACH : SOME;
    for (int i = 0; i < count; i++)
        blocks[i] = given(i % 2 ? malloc(size) : memalign(64, size), size);
    unsigned char *zeroed = calloc(1, size);
    CHECK(!zeroed || (zeroed[0] == 0 && zeroed[size - 1] == 0));
    for (int i = 0; i < count; i++) {
        size_t other_size = i % 2 ? size * 2 : size / 2 + 512;
        if (blocks[i])
            blocks[i] = resized(blocks[i], size, &other_size);
        give_back(blocks[i], other_size);
    }
    free(zeroed);
}

static void *all_sizes(void *unused) {
    for (int i = 0; i < SIZES; i++)
        one_size(sizes[i]);
    return unused;
}

/* Needs further tables and address space; not touched but at its ends. */
static void one_huge(size_t size) {
    errno = 0;
    char *block = malloc(size);
    CHECK(block || errno == ENOMEM);
    if (block)
        block[0] = block[size - 1] = 1;
    free(block);
}

#pragma weak hak_policy_set /* there where the program is linked with the library */
static void purge_after(const char *ms) {
    if (hak_policy_set)
        (void)hak_policy_set("purge_delay", ms);
}

/* Used as a whole: the next one finds them as they were left, or must be made zero. Meanwhile
 * nothing is purged, however slow the machine is. */
static void dense_huge_ones(void) {
    const char *delay = getenv("HAKMEM_PURGE_DELAY");
    size_t size = (size_t)9 << 20;
    purge_after("3600000");
    for (int i = 0; i < 3; i++) {
        void *block = given(malloc(size), size);
        if (block)
            memset(block, 1, size);
        free(block);
        unsigned char *zeroed = calloc(1, size);
        CHECK(!zeroed || (zeroed[0] == 0 && zeroed[size / 2] == 0 && zeroed[size - 1] == 0));
        free(zeroed);
    }
    purge_after(delay ? delay : "500");
}

/* The first byte is all that is used. */
static char *begun(void *block) {
    CHECK(block || errno == ENOMEM);
    if (block)
        *(char *)block = 5;
    errno = 0;
    return block;
}

/* A full one gives the next ones huge pages, and a sparse one among these gives them back. */
static void sparse_after_dense_huge_ones(void) {
    enum { HUGE_ONES = 4 };
    char *blocks[HUGE_ONES];
    size_t size = (size_t)16 << 20;
    malloc_trim(0); /* only memory that nothing was in gets huge pages */
    for (int i = 0; i < HUGE_ONES; i++) {
        blocks[i] = begun(malloc(size));
        if (blocks[i] && i == 0)
            memset(blocks[i], 1, size);
    }
    for (int i = 0; i < HUGE_ONES; i++)
        free(blocks[i]);
}

/* Blocks apart, more than fit into the first table of them; one that grows out of a range, and back
 * into one. */
static void gigabytes(void) {
    static void *blocks[APART + 1];
    static const size_t steps[] = {GIB, 2 * GIB, GIB, 40 * MIB, MIB};
    for (int i = 0; i < APART; i++)
        blocks[i] = begun(i % 2 ? malloc(GIB) : memalign(4 * MIB, GIB));
    for (int i = 0; i < APART; i++)
        free(blocks[i]);
    char *block = begun(malloc(40 * MIB)), *behind = begun(malloc(40 * MIB));
    for (size_t i = 0; block && i < sizeof steps / sizeof *steps; i++) {
        char *moved = realloc(block, steps[i]);
        CHECK(moved || errno == ENOMEM);
        block = moved ? moved : block;
        CHECK(*block == 5);
    }
    free(block);
    free(behind);
}

static void in_a_thread(void *(*requests)(void *)) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, requests, NULL) == 0)
        thread_join(thread);
}

static size_t live_blocks(void) {
    hak_usage usage;
    void *address = dlsym(RTLD_DEFAULT, "hak_get_usage");
    CHECK(address);
    ((__typeof__(&hak_get_usage))address)(&usage);
    return usage.blocks;
}

/* libc itself keeps some blocks: of its first thread, of a stack that it may use again. */
static size_t may_stay(void) {
    const char *more = getenv("TEST_BLOCKS_MAY_STAY");
    return 8 + (more ? strtoul(more, NULL, 10) : 0);
}

/* Runs that grow in place, move, are made zero again; and enough blocks of a size, given back and
 * wanted again, for the deepest magazine. */
static void large_ones(void) {
    size_t size = (size_t)3 << 20;
    for (int i = 0; i < 3; i++) {
        void *block = given(malloc(size), size), *behind = given(malloc(size), size);
        size_t other_size = size * 2;
        if (block)
            block = resized(block, size, &other_size);
        give_back(block, other_size);
        give_back(behind, size);
        unsigned char *zeroed = calloc(1, size);
        CHECK(!zeroed || (zeroed[0] == 0 && zeroed[size / 2] == 0 && zeroed[size - 1] == 0));
        free(zeroed);
    }
}

/* More than the guard keeps back. Each shrinks a little where it is. */
static void many_large_ones(void) {
    size_t size = 200000, other_size = 190000;
    for (int i = 0; i < MANY_LARGE; i++) {
        void *block = given(malloc(size), size);
        size_t now = other_size;
        if (block)
            block = resized(block, size, &now);
        give_back(block, now);
    }
}

static void *many_of_a_size(void *unused) {
    static void *blocks[MANY];
    for (int round = 0; round < 4; round++) {
        int count = 0;
        while (count < MANY && (blocks[count] = given(malloc(SMALL), SMALL)) != NULL)
            count++;
        while (count > 0)
            give_back(blocks[--count], SMALL);
    }
    return unused;
}

/* The second thread finds the deep magazine of the first, and makes it shallow. Meanwhile no epoch
 * ends, however slow the machine is: each would make the magazine less deep, or take its blocks. */
static void deep_in_two_threads(void) {
    const char *delay = getenv("HAKMEM_PURGE_DELAY");
    purge_after("3600000");
    in_a_thread(many_of_a_size);
    in_a_thread(many_of_a_size);
    purge_after(delay ? delay : "500");
}

/* Enough dense memory for huge pages, and some of it given back. */
static void many_dense(void) {
    static void *blocks[DENSE];
    for (int i = 0; i < DENSE; i++)
        blocks[i] = given(malloc(DENSE_SIZE), DENSE_SIZE);
    for (int i = 0; i < DENSE; i++)
        give_back(blocks[i], DENSE_SIZE);
}

static void no_block_is_left(size_t before) {
    malloc_trim(0); /* takes home what is on its way to another thread */
    size_t after = live_blocks();
    CHECK_THAT(after <= before + may_stay(), "%zu blocks, at the start %zu", after, before);
}

void requests_run(void) {
    size_t before = live_blocks();
    all_sizes(NULL);
    in_a_thread(all_sizes);
    one_huge((size_t)300 << 20);
    malloc_trim(0);
    all_sizes(NULL);
    in_a_thread(all_sizes);
    no_block_is_left(before);
}

void requests_run_rare(void) {
    size_t before = live_blocks();
    large_ones();
    many_large_ones();
    dense_huge_ones();
    sparse_after_dense_huge_ones();
    if (APART != 0)
        gigabytes();
    one_huge((size_t)1 << 47); /* more than there is: the guard gives up what it keeps back */
    many_of_a_size(NULL);
    deep_in_two_threads();
    many_dense();
    no_block_is_left(before);
}
