#include "os/thread.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { STACK = 65536, USUAL_STACK = 0 };

/* It names itself: whoever started it must not use its pthread_t, for it may have ended already. */
static void *run(void *argument) {
    const hak_os_thread *own = argument;
    pthread_setname_np(pthread_self(), own->name);
    own->body();
    return NULL;
}

/* The program's signals are not for this thread: it takes over what its maker blocks. */
static bool create(const pthread_attr_t *attributes, hak_os_thread *thread) {
    sigset_t all, before;
    pthread_t unused;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool created = pthread_create(&unused, attributes, run, thread) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return created;
}

static bool start(hak_os_thread *thread, size_t stack) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED); /* nobody will join it */
    if (stack != USUAL_STACK)
        pthread_attr_setstacksize(&attributes, stack);
    bool started = create(&attributes, thread);
    pthread_attr_destroy(&attributes);
    return started;
}

/* The program's thread-local data lies in the stack, too, and may not fit into a small one. */
bool hak_os_start_thread(hak_os_thread *thread) {
    return HAK_KEEP_ERRNO(start(thread, STACK) || start(thread, USUAL_STACK));
}

static bool has_handler(int signal) {
    struct sigaction now;
    return sigaction(signal, NULL, &now) == 0 && now.sa_handler != SIG_DFL &&
           now.sa_handler != SIG_IGN;
}

static bool blocks_a_handler(void) {
    uint64_t blocked = 0;
    if (syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked, sizeof blocked) != 0)
        return true;
    for (int signal = 1; blocked != 0; signal++, blocked >>= 1)
        if ((blocked & 1) != 0 && has_handler(signal))
            return true;
    return false;
}

bool hak_os_may_be_in_handler(void) {
    return HAK_KEEP_ERRNO(blocks_a_handler());
}

static struct timespec time_of(uint64_t milliseconds) {
    return (struct timespec){(time_t)(milliseconds / 1000), (long)(milliseconds % 1000) * 1000000};
}

void hak_os_sleep_ms(uint64_t milliseconds) {
    struct timespec time = time_of(milliseconds);
    (void)HAK_KEEP_ERRNO(nanosleep(&time, NULL));
}

static void futex(_Atomic uint32_t *word, int operation, uint32_t value,
                  const struct timespec *at_most) {
    (void)HAK_KEEP_ERRNO(
        syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, at_most, NULL, 0));
}

void hak_os_wait(_Atomic uint32_t *word, uint32_t value) {
    futex(word, FUTEX_WAIT, value, NULL);
}

void hak_os_wait_ms(_Atomic uint32_t *word, uint32_t value, uint64_t at_most) {
    struct timespec time = time_of(at_most);
    futex(word, FUTEX_WAIT, value, &time);
}

void hak_os_wake(_Atomic uint32_t *word) {
    futex(word, FUTEX_WAKE, 1, NULL);
}
