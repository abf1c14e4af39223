/* free takes a block by its first byte alone: every other address in it ends the program at the
 * call, be it a multiple of 16 or not, and be the block in the program's hands or free. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/check.h"

/* Blocks that begin everywhere in their places of 16 to 1024 bytes (pages/mark.h). */
static const size_t sizes[] = {16, 48, 112, 240, 480, 960, 1040, 1920, 3000};
enum { SIZES = sizeof sizes / sizeof *sizes, BLOCKS = 3, GRAIN = 16 };

/* In a child: whether it was ended. */
static int ends(uintptr_t address) {
    pid_t child = fork();
    if (child == 0) {
        close(STDERR_FILENO);
        free((void *)address);
        _exit(0);
    }
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void check_within(uintptr_t start, size_t size, const char *of) {
    for (size_t i = GRAIN; i < size; i += GRAIN)
        CHECK_THAT(ends(start + i), "byte %zu of %s of %zu", i, of, size);
    for (size_t i = 1; i < GRAIN; i++)
        CHECK_THAT(ends(start + i) && ends(start + size - i), "byte %zu of %s of %zu", i, of, size);
}

static void check_size(size_t size) {
    void *blocks[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++)
        blocks[i] = malloc(size);
    uintptr_t out = (uintptr_t)blocks[0], freed = (uintptr_t)blocks[1];
    CHECK(!ends(out) && !ends((uintptr_t)blocks[2]));
    check_within(out, size, "a block");
    free(blocks[1]);
    CHECK(ends(freed));
    check_within(freed, size, "a free block");
    free(blocks[0]);
    free(blocks[2]);
}

int main(void) {
    for (size_t i = 0; i < SIZES; i++)
        check_size(sizes[i]);
    return 0;
}
