/* The policy: one immutable snapshot of the limits that the cold boxes obey. It is published once,
 * when the environment has been read; malloc and free never look at it. */
#ifndef HAK_POLICY_POLICY_H
#define HAK_POLICY_POLICY_H

#include "base/attributes.h"
#include "base/geometry.h"
#include "base/variant.h"

#include <stdbool.h>

typedef struct hak_policy {
#define HAK_OPTION(field, variable, standard, lowest, highest, help) unsigned long field;
#include "policy/options.def"
#include HAK_VARIANT_OPTIONS
#undef HAK_OPTION
} hak_policy;

/* The snapshot in force. Never NULL; any thread, any time. */
const hak_policy *hak_policy_now(void);

/* Reads the HAKMEM_ variables of `environment` (NULL-terminated, not kept) and publishes the
 * result. Ignored in
 * privileged programs. Values out of range are named on stderr and ignored. */
void hak_policy_read(char *const environment[]);

/* The same, once: the first time that there is an environment. Any thread. */
void hak_policy_start(char *const environment[]);

/* One line on stderr for each option whose value is not this build's default. */
void hak_policy_tell(void);

/* Whether freed memory goes back by itself at all; and whether some may be taken away at once,
 * neither never nor lazily. */
enum { HAK_PURGE_NEVER_MS = 3600000 }; /* the highest value of the option */
HAK_INLINE bool hak_policy_purges(void) {
    return hak_policy_now()->purge_delay_ms != HAK_PURGE_NEVER_MS;
}
HAK_INLINE bool hak_policy_may_purge_now(void) {
    return hak_policy_purges() && hak_policy_now()->purge_lazily == 0;
}

#endif
