/* Every other way to make a child: vfork, posix_spawn, system, popen, exec from a thread. The child
 * runs with the library, too, and its output comes back whole. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/threads.h"

enum { ROUNDS = 20 };
extern char **environ;

static void by_vfork(void) {
    pid_t child = vfork();
    if (child == 0) {
        execl("/bin/true", "true", NULL);
        _exit(3);
    }
    child_must_succeed(child);
}

static void by_spawn(void) {
    pid_t child;
    char *arguments[] = {(char *)"true", NULL};
    CHECK(posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ) == 0);
    child_must_succeed(child);
}

static void by_popen(void) {
    char line[100];
    unsigned long sum = 0;
    FILE *numbers = popen("seq 1 2000 | sort -n | cat", "r");
    CHECK(numbers);
    while (fgets(line, sizeof line, numbers))
        sum += strtoul(line, NULL, 10);
    CHECK(pclose(numbers) == 0);
    CHECK_THAT(sum == 2000ul * 2001 / 2, "sum %lu", sum);
}

static void *from_a_thread(void *unused) {
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "test $(expr 6 \\* 7) = 42", NULL);
        _exit(3);
    }
    child_must_succeed(child);
    return unused;
}

int main(void) {
    hang_limit();
    for (int round = 0; round < ROUNDS; round++) {
        by_vfork();
        by_spawn();
        by_popen();
        CHECK(system("true") == 0);
        thread_join(thread_start(from_a_thread, NULL));
    }
    return 0;
}
