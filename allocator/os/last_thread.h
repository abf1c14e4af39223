/* Whether the program's own threads have ended, for a thread of the library that must not keep the
 * process alive. */
#pragma once

#include <stdbool.h>

/* Once, before hak_is_last_thread. False: the system does not tell of threads. */
bool hak_last_thread_watch(void);

/* True when no thread of the program is left but the caller: the main thread has ended, too. Or
 * when the system does not say. */
bool hak_is_last_thread(void);

/* Asks no more, and closes what it asked by. */
void hak_last_thread_drop(void);
