/* Writes beside a block, in a child: the free that follows must end it. */
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static inline void write_and_free(char *block, int value, int offset, int count) {
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    int nowhere = open("/dev/null", O_WRONLY);
    CHECK(nowhere >= 0);
    dup2(nowhere, STDERR_FILENO);
    for (volatile char *at = block + offset; at < block + offset + count; at++)
        *at = (char)value; // NOLINT(clang-analyzer-security.ArrayBound): on purpose
    free(block);
    _exit(0);
}

/* `count` bytes from `offset` on get this value. */
static inline void overrun_must_end(char *block, int value, int offset, int count) {
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        write_and_free(block, value, offset, count);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_THAT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "value %d at %d is not noticed",
               value, offset);
}
