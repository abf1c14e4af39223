/* A thread that ends purge epochs while the program's own threads sleep: with the option
 * HAKMEM_PURGE_THREAD alone. It gives back what lies free in segments, in the heaps of ended
 * threads and in those of threads that sleep (reclaim/reclaim.h). When it is there, and when it
 * rests: reclaim/background.h. */
#pragma once

#include <stdbool.h>

/* Starts the thread if it is wanted and not there. It allocates: the caller's heap is sound, and no
 * lock is held, nor one of libc's. False: nothing happened. */
bool hak_purger_start(void);
