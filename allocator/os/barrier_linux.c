#include "os/barrier.h"

#include "os/calls.h"
#include "os/os.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static HAK_EARLY _Atomic bool registered;

static bool membarrier(int command) {
    return syscall(SYS_membarrier, command, 0, 0) == 0;
}

static bool register_process(void) {
    bool done = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
    atomic_store_explicit(&registered, done, memory_order_relaxed);
    return done;
}

void hak_os_barrier_start(void) {
    (void)HAK_KEEP_ERRNO(hak_os_may_ask() && register_process());
}

/* A forked child may have to register again. */
static bool issue(void) {
    const int command = MEMBARRIER_CMD_PRIVATE_EXPEDITED;
    return membarrier(command) || (errno == EPERM && register_process() && membarrier(command));
}

bool hak_os_barrier(void) {
    return HAK_KEEP_ERRNO(atomic_load_explicit(&registered, memory_order_relaxed) &&
                          hak_os_may_ask() && issue());
}

hak_os_task hak_os_this_task(void) {
    return hak_os_may_ask() ? (hak_os_task){hak_call_process(), hak_call_thread()}
                            : HAK_UNKNOWN_TASK;
}

/* A process that was made without our fork handlers, or that shares our memory, has a number of its
 * own: nothing is known of its threads. */
bool hak_os_task_is_gone(hak_os_task task) {
    return HAK_KEEP_ERRNO(task.thread != 0 && hak_os_may_ask() &&
                          task.process == hak_call_process() &&
                          syscall(SYS_tgkill, task.process, task.thread, 0) != 0 && errno == ESRCH);
}
