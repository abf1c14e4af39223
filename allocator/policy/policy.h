/* The policy: one immutable snapshot of the options that the cold boxes obey, which is replaced as
 * a whole. malloc and free never look at it.
 *
 *   ring      |  64  |  65  |   2  |   3  | ... |  63  |      snapshots by their numbers
 *                       ^ current
 *
 * Nothing is ever freed. A snapshot is written over when 63 others have come after it. Who reads
 * one field needs no care: it finds a value that was in force, or is about to be, since fields are
 * atomic. Who wants all of one snapshot (hak_policy_copy) looks at its number again afterwards. */
#pragma once

#include "base/attributes.h"
#include "policy/option.h"

#include <stdatomic.h>

typedef struct hak_policy {
#define HAK_OPTION(field, variable, kind, standard, lowest, highest, help)                         \
    _Atomic unsigned long field;
#include "policy/options.def"
#include HAK_VARIANT_OPTIONS
#undef HAK_OPTION
} hak_policy;

/* The snapshot in force. Never NULL; any thread, any time. For one field: not to be kept. */
const hak_policy *hak_policy_now(void);

/* Nothing has been set, anywhere: these are the defaults of the build. */
bool hak_policy_is_standard(void);

HAK_COLD void hak_policy_copy(hak_policy *to);

HAK_INLINE _Atomic unsigned long *hak_policy_at(const hak_policy *policy,
                                                enum hak_option_index option) {
    return (_Atomic unsigned long *)(uintptr_t)policy + option;
}

/* Reads the options and publishes them, each source over those before it:
 *   this build's defaults, the program's string hakmem_conf, the file that HAKMEM_CONF names,
 *   HAKMEM_CONF itself, single HAKMEM_ variables.
 * `environment` is NULL-terminated and not kept; nothing of it counts in privileged programs. Names
 * and values that make no sense are reported on stderr. */
void hak_policy_read(char *const environment[]);

/* The same, once: the first time that there is an environment. Any thread. */
void hak_policy_start(char *const environment[]);

/* The value of an option that is no number; NULL: it is not there, or must not be believed. */
const char *hak_policy_text(char *const environment[], const char *name);

/* Replaces the snapshot by one with another value for an option. 0, or ENOENT: there is no such
 * option; EINVAL: no value for it; EPERM: it counts at the start alone. Any thread. */
HAK_COLD int hak_policy_change(const char *name, const char *text);

/* The same for one that is known, with a value that was parsed. */
HAK_COLD void hak_policy_change_to(enum hak_option_index option, unsigned long value);

HAK_COLD unsigned long hak_policy_at_start(enum hak_option_index option);

/* Calls the handler at the signal that an option names; 0: none. Where that cannot be, a line on
 * stderr says so. */
void hak_policy_on_signal(enum hak_option_index option, void (*handler)(int signal));

/* Says on stderr for which of them the program has put its own handler in place since. */
HAK_COLD void hak_policy_look_at_signals(void);

/* Reads the file that HAKMEM_CONF named again; what it says of options that may change counts, over
 * all else. Returns how many of its entries do not count, as stderr says; -1: there is no file, or
 * it may not be believed. */
HAK_COLD int hak_policy_read_again(void);

/* One line on stderr for each option whose value is not this build's default. */
HAK_COLD void hak_policy_tell(void);

HAK_COLD void hak_policy_after_fork_in_child(void);

/* What would cost too much at each tick of the clock happens once in a moment. */
enum { HAK_MOMENT_MS = 32 };

/* Whether freed memory goes back by itself at all; and whether some may be taken away at once,
 * neither never nor lazily. */
enum { HAK_PURGE_NEVER_MS = 3600000 }; /* the highest value of the option */
HAK_INLINE bool hak_policy_purges(void) {
    return hak_policy_now()->purge_delay_ms != HAK_PURGE_NEVER_MS;
}
HAK_INLINE bool hak_policy_may_purge_now(void) {
    return hak_policy_purges() && hak_policy_now()->purge_lazily == 0;
}
