/* expect_end REGEX PROGRAM: runs PROGRAM and wants it to end by SIGABRT with exactly one line on
 * stderr, which matches the extended regular expression REGEX.
 * expect_end unnoticed PROGRAM: wants it to end by itself, without a word.
 * expect_end fault PROGRAM: wants it to end by SIGSEGV, without a word.
 *
 * ctest alone cannot ask for both, a signal and a message. */
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT_SIZE = 4096 };

static pid_t start(char *program, int output) {
    pid_t child = fork();
    if (child == 0) {
        struct rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        dup2(output, STDERR_FILENO);
        setenv("LD_PRELOAD", getenv("HAKMEM_LIBRARY_PATH"), 1);
        execl(program, program, NULL);
        _exit(127);
    }
    close(output);
    return child;
}

static void read_all(int input, char text[TEXT_SIZE]) {
    size_t used = 0;
    for (ssize_t got; (got = read(input, text + used, TEXT_SIZE - 1 - used)) > 0;)
        used += (size_t)got;
    text[used] = '\0';
}

static int matches(const char *pattern, const char *text) {
    regex_t regex;
    if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB | REG_NEWLINE) != 0) {
        fprintf(stderr, "bad pattern: %s\n", pattern);
        exit(2);
    }
    return regexec(&regex, text, 0, NULL, 0) == 0;
}

static int is_one_line(const char *text) {
    const char *end = strchr(text, '\n');
    return end && end[1] == '\0';
}

static int ended_unnoticed(int status, const char *text) {
    if (WIFEXITED(status) && *text == '\0')
        return 0;
    fprintf(stderr, "wait status %d, wanted an ordinary end; stderr was:\n%s\n", status, text);
    return 1;
}

static int ended_by_fault(int status, const char *text) {
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV && *text == '\0')
        return 0;
    fprintf(stderr, "wait status %d, wanted SIGSEGV; stderr was:\n%s\n", status, text);
    return 1;
}

int main(int count, char **arguments) {
    char text[TEXT_SIZE];
    int ends[2], status;
    if (count != 3 || !getenv("HAKMEM_LIBRARY_PATH") || pipe(ends) != 0)
        return 2;
    pid_t child = start(arguments[2], ends[1]);
    read_all(ends[0], text);
    waitpid(child, &status, 0);
    if (strcmp(arguments[1], "unnoticed") == 0)
        return ended_unnoticed(status, text);
    if (strcmp(arguments[1], "fault") == 0)
        return ended_by_fault(status, text);
    int aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
    int named = matches(arguments[1], text) && is_one_line(text);
    if (aborted && named)
        return 0;
    if (WIFEXITED(status))
        fprintf(stderr, "exited with %d, wanted SIGABRT\n", WEXITSTATUS(status));
    else if (!aborted)
        fprintf(stderr, "ended by signal %d, wanted SIGABRT\n", WTERMSIG(status));
    fprintf(stderr, "stderr was:\n%s\nwanted one line: %s\n", text, arguments[1]);
    return 1;
}
