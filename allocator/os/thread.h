/* A thread of the library's own. */
#ifndef HAK_OS_THREAD_H
#define HAK_OS_THREAD_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stdint.h>

/* Starts a detached thread with a small stack, to which no signal is delivered. False: refused. It
 * calls calloc: no lock of ours may be held. The name has at most 15 letters. */
bool hak_os_start_thread(void (*body)(void), const char *name);

void hak_os_sleep_ms(uint64_t milliseconds);

#endif
