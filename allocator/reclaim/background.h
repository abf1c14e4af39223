/* A thread that ends purge epochs while the program's own threads sleep: with the option
 * HAKMEM_PURGE_THREAD alone. It gives back what lies free in segments, in the heaps of ended
 * threads and in those of threads that sleep (reclaim/reclaim.h).
 *
 *   malloc -> starts it          free -> wakes it
 *   NONE ---> RUNNING ---> RESTING ---> RUNNING ...      while nothing waits, it rests
 *    ^           '------------'-----> NONE               the first thread has ended: it ends, too
 *
 * free starts no thread: libc frees a thread's data under the lock that pthread_create wants. So
 * the thread is there before it is needed, and rests. But a program that ends with its last thread
 * must not be kept alive by ours. So ours rests only while the thread with the oldest heap lives,
 * whose end is noticed. Once it has ended, ours is there only while something waits. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Starts the thread if it is wanted and not there. `purge` ends an epoch that is due, and returns
 * the milliseconds until there is more to do, or 0 (hak_purge_due). It allocates: the caller's heap
 * is sound, and no lock is held, not even one of libc's. False: nothing happened. */
bool hak_background_start(uint64_t (*purge)(void));

/* ---- any thread, any time ---- */

/* Something waits for the end of an epoch. */
void hak_background_wake(void);

/* The epoch ends sooner than was said, or the thread may not be wanted any more: it looks again, if
 * it sleeps until then or rests. Signal handlers may call it. */
void hak_background_hurry(void);

/* The thread that has the oldest heap lives from now on, or has ended. */
void hak_background_first_lives(bool lives);

/* In a forked child, which does not have the thread. */
void hak_background_after_fork_in_child(void);

/* ---- for the thread itself ---- */

/* True: the caller starts it, and nobody else does. */
bool hak_background_begins(void);

/* Nothing waits. Returns when something does; false: the thread ends. */
bool hak_background_rest(void);
