/* Whether the thread of reclaim/purger.h is there, rests or is wanted: with the option
 * HAKMEM_PURGE_THREAD alone.
 *
 *   malloc -> starts it          free -> wakes it
 *   NONE ---> RUNNING ---> RESTING ---> RUNNING ...      while nothing waits, it rests
 *    ^           '------------'-----> NONE               the first thread has ended: it ends, too
 *
 * free starts no thread: libc frees a thread's data under the lock that pthread_create wants. So
 * the thread is there before it is needed, and rests. But a program that ends with its last thread
 * must not be kept alive by ours. So ours rests only while the thread with the oldest heap lives,
 * whose end is noticed. Without that one ours is there only while something waits. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

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

/* ---- for the thread itself, and for who starts it ---- */

/* It is wanted, there is something to do or to rest for, and it is not there. */
bool hak_background_lacks(void);

/* True: the caller starts it, and nobody else does; or says that the system refuses it. */
bool hak_background_begins(void);
void hak_background_is_refused(void);

/* Sleeps so many milliseconds at most: less if somebody called hak_background_hurry since `seen`
 * was its count. */
uint32_t hak_background_hurried(void);
void hak_background_sleep(uint32_t seen, uint64_t milliseconds);

/* Nothing waits. Returns when something does; false: the thread ends. */
bool hak_background_rest(void);
