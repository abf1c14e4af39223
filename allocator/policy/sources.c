/* Where options come from: the program's string, a file, and the environment. */
#include "base/text.h"
#include "include/hakmem.h"
#include "os/lock.h"
#include "os/os.h"
#include "os/tell.h"
#include "policy/conf.h"
#include "policy/snapshot.h"

#include <string.h>

#pragma weak hakmem_conf

static const char prefix[] = "HAKMEM_";
static char conf_path[HAK_CONF_PATH];
static hak_policy first;
static _Atomic(const hak_policy *) at_start = &hak_policy_standard; /* until options were read */

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
    hak_lock_take(&hak_policy_lock);
    hak_policy_copy_fields(&draft, &hak_policy_standard);
    if (hakmem_conf != NULL)
        hak_conf_read("hakmem_conf: ", hakmem_conf, &draft);
    if (believed)
        read_environment(environment, &draft);
    hak_policy_copy_fields(&first, &draft);
    atomic_store_explicit(&at_start, &first, memory_order_release);
    hak_policy_publish(&draft);
    hak_lock_give(&hak_policy_lock);
}

void hak_policy_read(char *const environment[]) {
    bool believed = environment != NULL && has_one(environment) && !hak_os_is_privileged();
    if (believed || hakmem_conf != NULL)
        read_all(environment, believed);
}

void hak_policy_start(char *const environment[]) {
    static HAK_EARLY atomic_flag started = ATOMIC_FLAG_INIT;
    if (environment != NULL && !atomic_flag_test_and_set(&started))
        hak_policy_read(environment);
}

unsigned long hak_policy_at_start(enum hak_option_index option) {
    return *hak_policy_at(atomic_load_explicit(&at_start, memory_order_acquire), option);
}

/* ---- the file, once more ---- */

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
    hak_lock_take(&hak_policy_lock);
    hak_policy_copy(&before);
    hak_policy_copy_fields(&draft, &before);
    int refused = hak_conf_read_file(conf_path, &draft);
    if (refused >= 0) {
        refused += tell_changes(&before, &draft);
        hak_policy_publish(&draft);
    }
    hak_lock_give(&hak_policy_lock);
    return refused;
}
