/* What follows when options change while the program runs. */
#pragma once

#include "base/attributes.h"

#include <stdbool.h>

/* The policy has changed: an epoch that runs ends by the new delay, what waits is waited for. Any
 * thread, without a lock. */
HAK_COLD void hak_steer(void);

/* Reads limits of memory. And lets the signal of HAKMEM_CONF_SIGNAL, if there is one, ask for the
 * file of HAKMEM_CONF to be read again: it is, when a thread next ends an epoch, which happens at
 * its next slow path. Once.
 */
HAK_COLD void hak_steer_start(void);

/* Reads that file if it was asked for. Under the purge lock. */
void hak_steer_serve(void);

/* It was asked for, and nobody has read it yet. */
bool hak_steer_is_asked(void);
