#include "policy/policy.h"

#include "base/fatal.h"
#include "os/lock.h"
#include "policy/snapshot.h"

#include <errno.h>
#include <string.h>

#define HAK_OPTION(field, variable, kind, standard, lowest, highest, help) .field = (standard),
const hak_policy hak_policy_standard = {
#include "policy/options.def"
#include HAK_VARIANT_OPTIONS
};
#undef HAK_OPTION
_Static_assert(sizeof(hak_policy) == HAK_OPTIONS * sizeof(unsigned long), "a word for each option");

enum { SNAPSHOTS = 64 };
static hak_policy snapshots[SNAPSHOTS];
static _Atomic(const hak_policy *) current = &hak_policy_standard;
static _Atomic unsigned long number; /* of the current one; 0: the defaults */
hak_lock hak_policy_lock;

const hak_policy *hak_policy_now(void) {
    return atomic_load_explicit(&current, memory_order_acquire);
}

bool hak_policy_is_standard(void) {
    return hak_policy_now() == &hak_policy_standard;
}

void hak_policy_copy_fields(hak_policy *to, const hak_policy *from) {
    for (unsigned i = 0; i < HAK_OPTIONS; i++) {
        unsigned long value = atomic_load_explicit(hak_policy_at(from, i), memory_order_relaxed);
        atomic_store_explicit(hak_policy_at(to, i), value, memory_order_relaxed);
    }
}

/* The slot of snapshot n is written over once n + SNAPSHOTS - 1 is published. Whoever read a word
 * of the later one finds a number that is too high. Source: Boehm, "Can Seqlocks Get Along With
 * Programming Language Memory Models?" (2012), for the fences. */
void hak_policy_copy(hak_policy *to) {
    unsigned long seen;
    do {
        seen = atomic_load_explicit(&number, memory_order_acquire);
        hak_policy_copy_fields(to, seen != 0 ? &snapshots[seen % SNAPSHOTS] : &hak_policy_standard);
        atomic_thread_fence(memory_order_acquire);
    } while (seen != 0 &&
             atomic_load_explicit(&number, memory_order_relaxed) - seen >= SNAPSHOTS - 1);
}

void hak_policy_publish(const hak_policy *draft) {
    unsigned long next = atomic_load_explicit(&number, memory_order_relaxed) + 1;
    hak_policy *slot = &snapshots[next % SNAPSHOTS];
    atomic_thread_fence(memory_order_release);
    hak_policy_copy_fields(slot, draft);
    atomic_store_explicit(&current, slot, memory_order_release);
    atomic_store_explicit(&number, next, memory_order_release);
}

void hak_policy_change_to(enum hak_option_index option, unsigned long value) {
    hak_policy draft;
    hak_lock_take(&hak_policy_lock);
    hak_policy_copy(&draft);
    *hak_policy_at(&draft, option) = value;
    hak_policy_publish(&draft);
    hak_lock_give(&hak_policy_lock);
}

int hak_policy_change(const char *name, const char *text) {
    unsigned long value;
    enum hak_option_index option = hak_option_find(name, strlen(name));
    if (option == HAK_OPTIONS)
        return ENOENT;
    if (!hak_option_is_live(option))
        return EPERM;
    if (!hak_option_parse(option, text, &value))
        return EINVAL;
    hak_policy_change_to(option, value);
    return 0;
}

void hak_policy_after_fork_in_child(void) {
    hak_lock_inherit(&hak_policy_lock);
}

void hak_policy_tell(void) {
    hak_policy policy;
    hak_policy_copy(&policy);
    for (unsigned i = 0; i < HAK_OPTIONS; i++) {
        char number_text[22], standard[22];
        unsigned long value = *hak_policy_at(&policy, i);
        if (value != hak_options[i].standard)
            hak_message("  %s = %s  (option; default %s)", hak_options[i].variable,
                        hak_option_text(value, number_text),
                        hak_option_text(hak_options[i].standard, standard));
    }
}
