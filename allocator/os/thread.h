/* A thread of the library's own. */
#pragma once

#include "base/attributes.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What it does, and its name of at most 15 letters. */
typedef struct {
    void (*body)(void);
    const char *name;
} hak_os_thread;

/* Starts a detached thread with a small stack, to which no signal is delivered. False: refused. It
 * calls calloc: no lock of ours may be held. `thread` is read for as long as the thread lives. */
bool hak_os_start_thread(hak_os_thread *thread);

/* The calling thread blocks a signal that has a handler, as each handler does while it runs. */
HAK_COLD bool hak_os_may_be_in_handler(void);

void hak_os_sleep_ms(uint64_t milliseconds);

/* Waits while the word has this value, or not so long; wakes one who does, also by a signal. */
void hak_os_wait(_Atomic uint32_t *word, uint32_t value);
void hak_os_wait_ms(_Atomic uint32_t *word, uint32_t value, uint64_t at_most);
void hak_os_wake(_Atomic uint32_t *word);
