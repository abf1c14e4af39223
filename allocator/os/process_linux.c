#include "os/os.h"

#include <pthread.h>

static const hak_os_hooks *registered;
static pthread_key_t exit_key;
static bool have_exit_key;

static void thread_exits(void *unused) {
    (void)unused;
    registered->on_thread_exit();
}

void hak_os_start(const hak_os_hooks *hooks) {
    registered = hooks;
    have_exit_key = pthread_key_create(&exit_key, thread_exits) == 0;
    pthread_atfork(hooks->before_fork, hooks->after_fork_in_parent, hooks->after_fork_in_child);
}

void hak_os_watch_this_thread(void) {
    /* Any value but NULL makes the destructor run. Without a key (all 1024 are taken) the heaps
     * of ended threads are not recycled; nothing else is lost. */
    if (have_exit_key)
        pthread_setspecific(exit_key, &exit_key);
}
