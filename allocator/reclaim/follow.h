/* Options that change while the program runs: what the epochs, the limits and the profile do then.
 * Any thread. */
#pragma once

#include "base/attributes.h"

#include <stdbool.h>

/* Reads limits of memory. If HAKMEM_CONF_SIGNAL names a signal, that signal makes an epoch end at
 * the next slow path of any thread, and the thread that ends it reads the file of HAKMEM_CONF
 * again. Once. */
HAK_COLD void hak_follow_start(void);

/* The policy has changed: an epoch that runs ends by the new delay, what waits is waited for.
 * Without a lock. */
HAK_COLD void hak_follow_policy(void);

/* Whether the signal has come and the file was not read since. */
bool hak_follow_is_asked(void);

/* Reads the file if the signal has come. Under the purge lock. */
void hak_follow_the_file(void);
