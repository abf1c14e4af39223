/* Allocation in constructors before main, in atexit and on_exit handlers, and in destructors;
 * blocks go from each to the next. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/pattern.h"

enum { BLOCKS = 200 };
static void *blocks[BLOCKS];
static int handlers_run;

static size_t size_of(int i) {
    return (size_t)i * (size_t)i * 7 % 50000;
}

static void make_blocks(uint64_t seed) {
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(size_of(i));
        CHECK(blocks[i]);
        pattern_fill(blocks[i], size_of(i), seed);
    }
}

static void take_blocks(uint64_t seed) {
    for (int i = 0; i < BLOCKS; i++) {
        CHECK_THAT(pattern_holds(blocks[i], size_of(i), seed), "block %d", i);
        free(blocks[i]);
    }
}

__attribute__((constructor(101))) static void early(void) {
    make_blocks(1);
}

__attribute__((constructor)) static void later(void) {
    take_blocks(1);
    make_blocks(2);
}

static void at_exit(void) {
    take_blocks(3);
    make_blocks(4);
    handlers_run++;
}

static void on_exit_too(int status, void *argument) {
    (void)status;
    CHECK(strcmp(argument, "from main") == 0);
    free(argument);
    take_blocks(4);
    make_blocks(5);
    handlers_run++;
}

/* Runs after the handlers. Says so by the exit status that ctest sees: main returns 1. */
__attribute__((destructor)) static void late(void) {
    CHECK(handlers_run == 2);
    take_blocks(5);
    make_blocks(6);
}

__attribute__((destructor(101))) static void last(void) {
    take_blocks(6);
    free(realloc(malloc(10), 100000));
    _exit(0);
}

int main(void) {
    take_blocks(2);
    make_blocks(3);
    CHECK(on_exit(on_exit_too, strdup("from main")) == 0);
    CHECK(atexit(at_exit) == 0);
    return 1;
}
