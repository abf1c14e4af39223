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
 * must not be kept alive by ours: it rests only while the thread lives that has the oldest heap,
 * and whose end is noticed. Without that one it is there only while something waits. */
#pragma once

#include <stdbool.h>

/* Starts the thread if it is wanted and not there. It allocates: the caller's heap is sound, and no
 * lock is held, nor one of libc's. False: nothing happened. */
bool hak_background_start(void);

/* Something waits for the end of an epoch. Any thread, any time. */
void hak_background_wake(void);

/* The thread that has the oldest heap lives from now on, or has ended. */
void hak_background_first_lives(bool lives);

/* In a forked child, which does not have the thread. */
void hak_background_after_fork_in_child(void);
