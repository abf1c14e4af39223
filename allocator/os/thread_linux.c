#include "os/thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

enum { STACK = 65536 };

static void *run(void *body) {
    void (*function)(void);
    __builtin_memcpy(&function, &body, sizeof function);
    function();
    return NULL;
}

static bool start(const pthread_attr_t *attributes, void (*body)(void), const char *name) {
    pthread_t thread;
    void *argument;
    __builtin_memcpy(&argument, &body, sizeof argument);
    if (pthread_create(&thread, attributes, run, argument) != 0)
        return false;
    pthread_setname_np(thread, name);
    return true;
}

/* The program's signals are not for this thread, and nobody will join it. False: out of memory. */
static bool describe(pthread_attr_t *attributes) {
    sigset_t all;
    sigfillset(&all);
    pthread_attr_setdetachstate(attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(attributes, STACK);
    return pthread_attr_setsigmask_np(attributes, &all) == 0;
}

bool hak_os_start_thread(void (*body)(void), const char *name) {
    int saved_errno = errno;
    pthread_attr_t attributes;
    bool started = false;
    if (pthread_attr_init(&attributes) == 0) {
        started = describe(&attributes) && start(&attributes, body, name);
        pthread_attr_destroy(&attributes);
    }
    errno = saved_errno;
    return started;
}

void hak_os_sleep_ms(uint64_t milliseconds) {
    struct timespec time = {(time_t)(milliseconds / 1000), (long)(milliseconds % 1000) * 1000000};
    nanosleep(&time, NULL);
}
