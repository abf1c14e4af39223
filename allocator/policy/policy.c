#include "policy/policy.h"

#include "base/fatal.h"
#include "base/text.h"
#include "include/hakmem.h"
#include "os/lock.h"
#include "os/os.h"
#include "os/tell.h"
#include "policy/conf.h"

#include <errno.h>
#include <string.h>

#define HAK_OPTION(field, variable, kind, standard, lowest, highest, help) .field = (standard),
static const hak_policy standard_policy = {
#include "policy/options.def"
#include HAK_VARIANT_OPTIONS
};
#undef HAK_OPTION
_Static_assert(sizeof(hak_policy) == HAK_OPTIONS * sizeof(unsigned long), "a word for each option");

/* ---- snapshots ---- */

enum { SNAPSHOTS = 64 };
static hak_policy snapshots[SNAPSHOTS];
static _Atomic(const hak_policy *) current = &standard_policy;
static _Atomic unsigned long number; /* of the current one; 0: the defaults */
static hak_lock lock;                /* of who replaces it */

const hak_policy *hak_policy_now(void) {
    return atomic_load_explicit(&current, memory_order_acquire);
}

bool hak_policy_is_standard(void) {
    return hak_policy_now() == &standard_policy;
}

static void copy_fields(hak_policy *to, const hak_policy *from) {
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
        copy_fields(to, seen != 0 ? &snapshots[seen % SNAPSHOTS] : &standard_policy);
        atomic_thread_fence(memory_order_acquire);
    } while (seen != 0 &&
             atomic_load_explicit(&number, memory_order_relaxed) - seen >= SNAPSHOTS - 1);
}

/* Under the lock. */
static void publish(const hak_policy *draft) {
    unsigned long next = atomic_load_explicit(&number, memory_order_relaxed) + 1;
    hak_policy *slot = &snapshots[next % SNAPSHOTS];
    atomic_thread_fence(memory_order_release);
    copy_fields(slot, draft);
    atomic_store_explicit(&current, slot, memory_order_release);
    atomic_store_explicit(&number, next, memory_order_release);
}

void hak_policy_change_to(enum hak_option_index option, unsigned long value) {
    hak_policy draft;
    hak_lock_take(&lock);
    hak_policy_copy(&draft);
    *hak_policy_at(&draft, option) = value;
    publish(&draft);
    hak_lock_give(&lock);
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
    hak_lock_inherit(&lock);
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

/* ---- where they come from ---- */

#pragma weak hakmem_conf

static const char prefix[] = "HAKMEM_";
static char conf_path[HAK_CONF_PATH];
static hak_policy at_start;

/* Most processes have none, and nothing to look for. */
static bool has_one(char *const environment[]) {
    for (; *environment != NULL; environment++)
        if (strncmp(*environment, prefix, HAK_PREFIX) == 0)
            return true;
    return false;
}

/* What stands behind `name` and the sign; NULL: it is not there. */
static HAK_COLD const char *find_variable(char *const environment[], const char *name) {
    size_t length = strlen(name);
    for (; *environment != NULL; environment++)
        if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
            return *environment + length + 1;
    return NULL;
}

const char *hak_policy_text(char *const environment[], const char *name) {
    const char *text = environment != NULL ? find_variable(environment, name) : NULL;
    return text != NULL && !hak_os_is_privileged() ? text : NULL;
}

static HAK_COLD void read_variables(char *const environment[], hak_policy *draft) {
    for (unsigned i = 0; i < HAK_OPTIONS; i++) {
        const char *text = find_variable(environment, hak_options[i].variable);
        if (text != NULL)
            hak_conf_set("", (enum hak_option_index)i, text, draft);
    }
}

static HAK_COLD void tell_of_names(char *const environment[]) {
    for (; *environment != NULL; environment++) {
        size_t length = (size_t)(hak_find(*environment, '=') - *environment);
        if (strncmp(*environment, prefix, HAK_PREFIX) == 0 &&
            !hak_name_is_known(*environment, length))
            hak_name_refuse("", *environment, length, 0);
    }
}

static HAK_COLD void read_environment(char *const environment[], hak_policy *draft) {
    const char *conf = find_variable(environment, "HAKMEM_CONF"),
               *quiet = find_variable(environment, "HAKMEM_QUIET");
    draft->quiet = quiet != NULL && strcmp(quiet, "1") == 0;
    if (conf != NULL && hak_conf_file(conf, conf_path, draft))
        hak_conf_read_file(conf_path, draft);
    if (conf != NULL)
        hak_conf_read("HAKMEM_CONF: ", conf, draft);
    read_variables(environment, draft);
    if (draft->quiet != 0)
        return;
    tell_of_names(environment);
    if (draft->conf_signal != 0 && conf_path[0] == '\0')
        hak_tell("HAKMEM_CONF_SIGNAL: nothing to read then: HAKMEM_CONF names no file");
}

static HAK_COLD void read_all(char *const environment[], bool believed) {
    hak_policy draft;
    hak_lock_take(&lock);
    copy_fields(&draft, &standard_policy);
    if (hakmem_conf != NULL)
        hak_conf_read("hakmem_conf: ", hakmem_conf, &draft);
    if (believed)
        read_environment(environment, &draft);
    copy_fields(&at_start, &draft);
    publish(&draft);
    hak_lock_give(&lock);
}

void hak_policy_read(char *const environment[]) {
    bool believed = environment != NULL && has_one(environment) && !hak_os_is_privileged();
    if (believed || hakmem_conf != NULL)
        read_all(environment, believed);
}

void hak_policy_start(char *const environment[]) {
    static HAK_EARLY atomic_flag was_read = ATOMIC_FLAG_INIT;
    if (environment != NULL && !atomic_flag_test_and_set(&was_read))
        hak_policy_read(environment);
}

unsigned long hak_policy_at_start(enum hak_option_index option) {
    bool was_read = atomic_load_explicit(&number, memory_order_acquire) != 0;
    return was_read ? *hak_policy_at(&at_start, option) : hak_options[option].standard;
}

/* ---- once more ---- */

static HAK_COLD void tell_change(enum hak_option_index option, unsigned long before,
                                 unsigned long now) {
    char name[32], from[22], to[22];
    hak_option_name(hak_options[option].variable, name);
    if (hak_option_is_live(option))
        hak_tell("%s: %s %s -> %s", conf_path, name, hak_option_text(before, from),
                 hak_option_text(now, to));
    else
        hak_tell("%s: %s counts at the start alone; not changed", conf_path, name);
}

/* Reports what the file would change. Options that count at the start alone stay in `draft` as they
 * were; returns how many these are. */
static HAK_COLD int tell_changes(const hak_policy *before, hak_policy *draft) {
    bool told = draft->quiet != 0;
    int kept = 0;
    for (unsigned i = 0; i < HAK_OPTIONS; i++) {
        enum hak_option_index option = (enum hak_option_index)i;
        unsigned long old = *hak_policy_at(before, option), new = *hak_policy_at(draft, option);
        if (old != new && draft->quiet == 0)
            tell_change(option, old, new);
        told = told || old != new;
        kept += old != new && !hak_option_is_live(option);
        if (!hak_option_is_live(option))
            *hak_policy_at(draft, option) = old;
    }
    if (!told)
        hak_tell("%s was read again: no change", conf_path);
    return kept;
}

int hak_policy_read_again(void) {
    hak_policy before, draft;
    if (conf_path[0] == '\0')
        return -1;
    hak_lock_take(&lock);
    hak_policy_copy(&before);
    copy_fields(&draft, &before);
    int refused = hak_conf_read_file(conf_path, &draft);
    if (refused >= 0) {
        refused += tell_changes(&before, &draft);
        publish(&draft);
    }
    hak_lock_give(&lock);
    return refused;
}

/* ---- signals ---- */

typedef struct awaited_signal {
    enum hak_option_index option;
    int signal; /* 0: none */
    void (*handler)(int signal);
} awaited_signal;

static awaited_signal awaited[2]; /* that of heap profiles, and that of the file */

void hak_policy_on_signal(enum hak_option_index option, void (*handler)(int signal)) {
    int signal = (int)*hak_policy_at(hak_policy_now(), option);
    if (signal == 0)
        return;
    if (hak_os_on_signal(signal, handler))
        awaited[option == HAK_OPTION_conf_signal] = (awaited_signal){option, signal, handler};
    else
        hak_message(
            "hakmem: %s: the program has a handler of its own, or the system refuses; not used",
            hak_options[option].variable);
}

void hak_policy_look_at_signals(void) {
    for (unsigned i = 0; i < 2; i++) {
        awaited_signal one = awaited[i];
        if (one.signal != 0 && !hak_os_is_handler(one.signal, one.handler))
            hak_tell("%s: the program handles signal %zu itself by now, so it does nothing here",
                     hak_options[one.option].variable, (size_t)one.signal);
    }
}
