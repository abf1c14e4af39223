/* A thread that ends purge epochs while the program's own threads sleep: with the option
 * HAKMEM_PURGE_THREAD alone. It gives back what lies free in segments, in the heaps of ended
 * threads and in those of threads that sleep (reclaim/reclaim.h).
 *
 * It is there only while something waits, and for a short time after: a program that ends with its
 * last thread is not kept alive. */
#pragma once

#include <stdbool.h>

/* Something waits for the end of an epoch: starts the thread if it is wanted and not there. It
 * allocates: the caller's heap is sound, and no lock is held. False: nothing happened. */
bool hak_background_start(void);

/* In a forked child, which does not have the thread. */
void hak_background_after_fork_in_child(void);
