/* The last line of a program: whole, on stderr, in one piece, however long; then SIGABRT. */
#include "base/fatal.h"
#include "base/text.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/threads.h"

static char text[4096];

static void capture(const char *what, const void *address, const char *why) {
    int ends[2], status;
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        dup2(ends[1], STDERR_FILENO);
        hak_fatal(what, "free", address, why);
    }
    close(ends[1]);
    ssize_t length = read(ends[0], text, sizeof text - 1);
    close(ends[0]);
    CHECK(length > 0);
    text[length] = '\0';
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void is_formatted(void) {
    capture("double free", (void *)(uintptr_t)0x7f0123456789abcd, "it was free");
    CHECK_THAT(strcmp(text, "hakmem: double free: free(0x7f0123456789abcd): it was free\n") == 0,
               "%s", text);
    capture("x", (void *)UINTPTR_MAX, "y");
    CHECK_THAT(strcmp(text, "hakmem: x: free(0xffffffffffffffff): y\n") == 0, "%s", text);
}

static void is_cut_but_ends_with_a_newline(void) {
    static char endless[3000];
    memset(endless, 'a', sizeof endless - 1);
    capture(endless, NULL, "never seen");
    size_t length = strlen(text);
    CHECK(length < sizeof endless && text[length - 1] == '\n');
}

static void write_to_nobody(void) {
    int ends[2];
    CHECK(pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
    close(ends[0]);
    errno = 0;
    hak_message("to nobody");
    CHECK(errno == 0);
}

/* A program goes on where the reader of its messages has gone, and has its own signals as before.
 */
static void a_broken_pipe_ends_nothing(void) {
    pid_t child = fork();
    if (child == 0) {
        write_to_nobody();
        _exit(0);
    }
    child_must_succeed(child);
    sigset_t before, after;
    CHECK(sigprocmask(SIG_BLOCK, NULL, &before) == 0);
    hak_message("a message, for its signals");
    CHECK(sigprocmask(SIG_BLOCK, NULL, &after) == 0);
    CHECK(sigismember(&after, SIGPIPE) == sigismember(&before, SIGPIPE));
}

static bool is_pending(int signal) {
    sigset_t pending;
    CHECK(sigpending(&pending) == 0);
    return sigismember(&pending, signal) == 1;
}

/* A program that blocks the signal waits for it itself: one that waits already is the program's. */
static void signals_of_the_program_stay(void) {
    pid_t child = fork();
    if (child == 0) {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGPIPE);
        CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
        write_to_nobody();
        CHECK(!is_pending(SIGPIPE));
        CHECK(raise(SIGPIPE) == 0);
        write_to_nobody();
        CHECK(is_pending(SIGPIPE));
        _exit(0);
    }
    child_must_succeed(child);
}

static void says(const char *expected, size_t length) {
    CHECK_THAT(length == strlen(expected) && strcmp(text, expected) == 0, "%s", text);
}

static void formats(void) {
    says("0 1090", hak_print(text, sizeof text, "%u %zu", 0u, (size_t)1090));
    says("18446744073709551615!", hak_print(text, sizeof text, "%lu!", ULONG_MAX));
    says("abc, ab, ", hak_print(text, sizeof text, "%s, %.*s, %s", "abc", 2, "abc", ""));
    says("a, 0x0 0x1f", hak_print(text, sizeof text, "%.*s, %p %p", 9, "a", NULL, (void *)31));
    CHECK(hak_print(text, 4, "%s%u", "abc", 42u) == 5 && strcmp(text, "abc") == 0);
    CHECK(hak_print(NULL, 0, "%s", "abc") == 3);
}

static char gathered[64];
static void gather(hak_text *from) {
    strncat(gathered, from->buffer, from->length);
    from->length = 0;
}

static void a_full_buffer_is_emptied(void) {
    char few[3];
    hak_text all = {few, sizeof few, 0, gather};
    hak_text_add(&all, "%s %u", "eleven", 1234u);
    gather(&all);
    CHECK_THAT(strcmp(gathered, "eleven 1234") == 0, "%s", gathered);
}

int main(void) {
    is_formatted();
    is_cut_but_ends_with_a_newline();
    a_broken_pipe_ends_nothing();
    signals_of_the_program_stay();
    formats();
    a_full_buffer_is_emptied();
    return 0;
}
