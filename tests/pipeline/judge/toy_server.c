/* A server in miniature: works as often as asked, says so in a file, and waits for its end. With
 * "fork" a child works as often once more, and is what it waits for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static void work(long times) {
    volatile long sum = 0;
    for (long i = 0; i < times; i++)
        sum += labs(-i);
}

int main(int argc, char **argv) {
    long times = argc > 1 ? atol(argv[1]) : 0;
    work(times);
    if (argc > 2 && strcmp(argv[2], "fork") == 0) {
        if (fork() == 0) {
            work(times);
            _exit(0);
        }
        return wait(NULL) < 0;
    }
    if (argc > 2) {
        FILE *ready = fopen(argv[2], "w");
        if (ready == NULL || fputs("ready", ready) < 0 || fclose(ready) != 0)
            return 1;
        for (;;)
            pause();
    }
    return 0;
}
