/* Threads fork while others use stdio. fork runs the handlers of libraries, then waits for libc's
 * list of files; who holds that, or a file in it, may allocate. So nobody may wait in malloc or
 * free for what a forking thread holds: all of them would wait for ever. The threads are those of
 * glibc's bug 19431. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/threads.h"

enum { THREADS = 14, ROUNDS = 30 / TEST_SHARE, LINES = 60, STEP = 1500 };

/* Lines that are longer each time, so that the buffer grows while the file is locked. */
static FILE *write_lines(void) {
    static const char text[STEP] = {[0 ... STEP - 1] = 'x'};
    FILE *file = tmpfile();
    CHECK(file);
    for (size_t line = 1; line <= LINES; line++) {
        for (size_t part = 0; part < line; part++)
            CHECK(fwrite(text, STEP, 1, file) == 1);
        CHECK(fputc('\n', file) == '\n');
    }
    rewind(file);
    return file;
}

static void read_lines(FILE *file) {
    char *line = NULL;
    size_t room = 0, lines = 0;
    for (ssize_t length; (length = getline(&line, &room, file)) > 0; lines++)
        CHECK((size_t)length == (lines + 1) * STEP + 1 && line[length - 1] == '\n');
    CHECK(lines == LINES);
    free(line);
}

static void open_and_close(void) {
    FILE *file = fopen("/proc/self/status", "r");
    char word[16];
    CHECK(file && fscanf(file, "%15s", word) == 1);
    fclose(file);
}

static void fork_child(size_t round) {
    pid_t child = fork();
    if (child == 0) {
        hang_limit();
        if (round % 4 == 0)
            execl("/bin/true", "true", (char *)NULL);
        free(malloc(round * 5000));
        _exit(0);
    }
    child_must_succeed(child);
}

static void ask_a_child(void) {
    FILE *from = popen("echo hello", "r");
    char word[16];
    CHECK(from && fscanf(from, "%15s", word) == 1 && strcmp(word, "hello") == 0);
    CHECK(pclose(from) == 0);
}

static void *use_stdio_and_fork(void *argument) {
    size_t own = *(const size_t *)argument;
    for (size_t round = 0; round < ROUNDS; round++) {
        FILE *file = write_lines();
        if (own % 2 == 0 || round % 4 == 0)
            fork_child(round);
        read_lines(file);
        fclose(file);
        open_and_close();
        if (own % 4 == 1)
            fflush(NULL);
        if (round % 16 == own)
            ask_a_child();
    }
    return NULL;
}

int main(void) {
    size_t numbers[THREADS];
    hang_limit();
    for (size_t i = 0; i < THREADS; i++)
        numbers[i] = i;
    threads_run(THREADS, use_stdio_and_fork, numbers, sizeof *numbers);
    return 0;
}
