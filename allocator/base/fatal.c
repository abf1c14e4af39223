#include "base/fatal.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LINE_SIZE = 512 };

enum { SIGNALS = 8 }; /* bytes of a set of signals in the kernel */

static void change_signals(int how, const uint64_t *set, uint64_t *before) {
    syscall(SYS_rt_sigprocmask, how, set, before, SIGNALS);
}

/* The signal of a pipe that nobody reads any more: nothing to end a program for. It is sent to the
 * thread that writes, and waits there. */
static void write_line(const char *line, size_t length) {
    const uint64_t broken_pipe = UINT64_C(1) << (SIGPIPE - 1);
    const struct timespec at_once = {0, 0};
    uint64_t before = 0;
    change_signals(SIG_BLOCK, &broken_pipe, &before);
    if (syscall(SYS_write, STDERR_FILENO, line, length) < 0 && errno == EPIPE)
        syscall(SYS_rt_sigtimedwait, &broken_pipe, NULL, &at_once, SIGNALS);
    change_signals(SIG_SETMASK, &before, NULL);
}

/* By numbers of system calls: libc's write is a point where a thread may be cancelled, malloc and
 * free are none. stderr may be closed; there is nowhere else to say it. */
static void send_line(const char *line, size_t length) {
    int saved_errno = errno;
    write_line(line, length);
    errno = saved_errno;
}

void hak_message(const char *const parts[]) {
    char buffer[LINE_SIZE];
    hak_text line = {buffer, LINE_SIZE - 1, 0}; /* the newline always fits */
    hak_text_add(&line, parts);
    size_t length = line.length < line.size ? line.length : line.size;
    buffer[length] = '\n';
    send_line(buffer, length + 1);
}

void hak_fatal(const char *what, const char *function, const void *address, const char *why) {
    char digits[19];
    hak_message((const char *const[]){"hakmem: ", what, ": ", function, "(",
                                      hak_hexadecimal((uintptr_t)address, digits), ")",
                                      why != NULL ? ": " : "", why != NULL ? why : "", NULL});
    abort();
}
