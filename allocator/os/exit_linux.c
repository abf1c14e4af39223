#include "os/exit.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __GLIBC__
/* Within exit: glibc goes on with what is left, with the new code. */
static void change(int status, void *code) {
    if (status == 0)
        exit((int)(intptr_t)code); // NOLINT(concurrency-mt-unsafe): this thread is in exit already
}

static int at_the_very_end(int code) {
    return on_exit(change, (void *)(intptr_t)code);
}
#else
static int at_the_very_end(int code) {
    return code != 0 ? -1 : 0;
}
#endif

void hak_os_exit_with(int code) {
    if (at_the_very_end(code) == 0)
        return;
    fflush(NULL);
    _exit(code);
}
