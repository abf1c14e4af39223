/* Whatever one value a program fills too many bytes with, in front of a block or behind it: it ends
 * at the free. Children of one process try all values at one block, so one of them is its canary.
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../misuse/misuse.h"
#include "../support/check.h"

enum { SIZE = 100, TOO_MANY = 12 };

static void write_and_free(char *block, int value, int offset) {
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    int nowhere = open("/dev/null", O_WRONLY);
    CHECK(nowhere >= 0);
    dup2(nowhere, STDERR_FILENO);
    for (volatile char *at = block + offset; at < block + offset + TOO_MANY; at++)
        *at = (char)value; // NOLINT(clang-analyzer-security.ArrayBound): on purpose
    free(block);
    _exit(0);
}

static void must_end(char *block, int value, int offset) {
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        write_and_free(block, value, offset);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_THAT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "value %d at %d is not noticed",
               value, offset);
}

int main(void) {
    char *block = launder(malloc(SIZE));
    CHECK(block != NULL);
    for (int value = 0; value < 256; value++) {
        must_end(block, value, SIZE);
        must_end(block, value, -TOO_MANY);
    }
    free(block);
    return 0;
}
