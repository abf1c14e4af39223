#include "threads.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { STACK_SIZE = 128 * 1024, MAX_THREADS = 64, HANG_SECONDS = 1200 };

pthread_t thread_start(void *(*body)(void *), void *argument) {
    pthread_t thread;
    pthread_attr_t attributes;
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, STACK_SIZE) == 0);
    int error = pthread_create(&thread, &attributes, body, argument);
    CHECK_THAT(error == 0, "error %d", error);
    pthread_attr_destroy(&attributes);
    return thread;
}

void *thread_join(pthread_t thread) {
    void *result;
    CHECK(pthread_join(thread, &result) == 0);
    return result;
}

void threads_run(unsigned count, void *(*body)(void *), void *arguments, size_t size) {
    pthread_t threads[MAX_THREADS];
    CHECK(count <= MAX_THREADS);
    for (unsigned i = 0; i < count; i++)
        threads[i] = thread_start(body, (char *)arguments + i * size);
    for (unsigned i = 0; i < count; i++)
        thread_join(threads[i]);
}

void child_must_succeed(pid_t child) {
    int status = 0;
    CHECK_THAT(child > 0, "fork failed with errno %d", errno);
    while (waitpid(child, &status, 0) < 0)
        CHECK(errno == EINTR);
    CHECK_THAT(!WIFSIGNALED(status), "child %d was ended by signal %d", child, WTERMSIG(status));
    CHECK_THAT(WEXITSTATUS(status) == 0, "child %d exited with %d", child, WEXITSTATUS(status));
}

pid_t start_again(char *const arguments[]) {
    pid_t child = fork();
    if (child == 0) {
        execv("/proc/self/exe", arguments);
        _exit(127);
    }
    return child;
}

int run_again(char *const arguments[], int descriptor, char *text, size_t size) {
    int ends[2], status;
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], descriptor);
        close(ends[0]);
        close(ends[1]);
        execv("/proc/self/exe", arguments);
        _exit(127);
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got; (got = read(ends[0], text + used, size - 1 - used)) > 0;)
        used += (size_t)got;
    text[used] = '\0';
    close(ends[0]);
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

void hang_limit(void) {
    alarm(HANG_SECONDS);
}
