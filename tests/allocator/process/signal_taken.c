/* A program that puts a handler of its own in place of the library's is told on stderr, once, that
 * the option does nothing now. Go's runtime takes each signal that way at its start. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/threads.h"

enum { SIZE = 1 << 20, ROOM = 4096 };

static void own(int signal) {
    (void)signal;
}

/* stderr goes into a pipe; its other end is returned. */
static int catch_stderr(void) {
    int ends[2];
    CHECK(pipe(ends) == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    CHECK(dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
    return ends[0];
}

/* Comes by the slow paths, where an epoch ends. */
static void allocate(void) {
    void *blocks[8];
    for (int i = 0; i < 8; i++)
        blocks[i] = malloc(SIZE + (size_t)i);
    for (int i = 0; i < 8; i++)
        free(blocks[i]);
    usleep(1000);
}

/* Everything that was said until `wanted` stood there. */
static void wait_for(int from, const char *wanted, char said[ROOM]) {
    size_t length = 0;
    while (strstr(said, wanted) == NULL) {
        allocate();
        ssize_t got = read(from, said + length, ROOM - 1 - length);
        length += got > 0 ? (size_t)got : 0;
    }
}

int main(int count, char **arguments) {
    char said[ROOM] = "";
    hang_limit();
    if (count == 1) {
        setenv("HAKMEM_CONF", "file=/dev/null", 1);
        setenv("HAKMEM_CONF_SIGNAL", "12", 1); /* SIGUSR2 */
        setenv("HAKMEM_PURGE_DELAY", "20", 1);
        execl(arguments[0], arguments[0], "again", NULL);
    }
    CHECK(count == 2 && signal(SIGUSR2, own) != SIG_ERR);
    wait_for(catch_stderr(), "HAKMEM_CONF_SIGNAL: the program handles signal 12 itself", said);
    return 0;
}
