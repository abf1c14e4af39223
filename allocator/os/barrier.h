/* What one thread can find out and bring about for all others of the process, while they go on.
 * Where system calls are filtered (seccomp) nothing is asked and every answer is "no". */
#pragma once

#include "base/attributes.h"

#include <stdbool.h>
#include <stdint.h>

/* Prepares hak_os_barrier: best while the process has one thread, where it costs a system call. */
void hak_os_barrier_start(void);

/* Each thread of the process that runs passes a full memory barrier between the beginning and the
 * end of this call; those that do not run are as good as behind one. False: not to be had here. */
bool hak_os_barrier(void);

/* A thread of this process, by its numbers; all 0: unknown. */
typedef struct hak_os_task {
    int32_t process, thread;
} hak_os_task;
hak_os_task hak_os_this_task(void);
#define HAK_UNKNOWN_TASK ((hak_os_task){0, 0})

/* True when that thread has ended for certain. */
bool hak_os_task_is_gone(hak_os_task task);
