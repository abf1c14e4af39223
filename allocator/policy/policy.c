#include "policy/policy.h"

#include "base/fatal.h"
#include "os/os.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct option {
    const char *variable;
    unsigned long standard, lowest, highest;
    size_t offset;
} option;

#define HAK_OPTION(field, variable, standard, lowest, highest, help)                               \
    {variable, standard, lowest, highest, offsetof(hak_policy, field)},
static const option options[] = {
#include "policy/options.def"
#include HAK_VARIANT_OPTIONS
};
#undef HAK_OPTION

#define HAK_OPTION(field, variable, standard, lowest, highest, help)                               \
    _Static_assert((standard) >= (lowest) && (standard) <= (highest),                              \
                   variable ": its default must be from " #lowest " to " #highest);
#include "policy/options.def"
#include HAK_VARIANT_OPTIONS
#undef HAK_OPTION

#define HAK_OPTION(field, variable, standard, lowest, highest, help) .field = (standard),
static const hak_policy standard_policy = {
#include "policy/options.def"
#include HAK_VARIANT_OPTIONS
};
#undef HAK_OPTION

static _Atomic(const hak_policy *) current = &standard_policy;

const hak_policy *hak_policy_now(void) {
    return atomic_load_explicit(&current, memory_order_acquire);
}

/* strtoul would accept signs, blanks and a locale's ideas. */
static bool parse(const char *text, unsigned long *value) {
    *value = 0;
    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9' || *value > (ULONG_MAX - 9) / 10)
            return false;
        *value = *value * 10 + (unsigned long)(*text - '0');
    }
    return true;
}

static HAK_COLD void refuse_value(const option *o, const char *text) {
    char low[21], high[21], standard[21];
    const char *const parts[] = {"hakmem: ",
                                 o->variable,
                                 "=",
                                 text,
                                 " is not a number from ",
                                 hak_decimal(o->lowest, low),
                                 " to ",
                                 hak_decimal(o->highest, high),
                                 "; using ",
                                 hak_decimal(o->standard, standard),
                                 NULL};
    hak_message(parts);
}

static void read_option(const option *o, hak_policy *policy, char *const environment[]) {
    size_t length = strlen(o->variable);
    for (; *environment != NULL; environment++) {
        if (strncmp(*environment, o->variable, length) != 0 || (*environment)[length] != '=')
            continue;
        const char *text = *environment + length + 1;
        unsigned long value;
        if (parse(text, &value) && value >= o->lowest && value <= o->highest)
            memcpy((char *)policy + o->offset, &value, sizeof value);
        else
            refuse_value(o, text);
        return;
    }
}

HAK_COLD void hak_policy_tell(void) {
    const hak_policy *policy = hak_policy_now();
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        char number[21], standard[21];
        unsigned long value;
        memcpy(&value, (const char *)policy + options[i].offset, sizeof value);
        if (value != options[i].standard)
            hak_message((const char *const[]){
                "  ", options[i].variable, " = ", hak_decimal(value, number), "  (option; default ",
                hak_decimal(options[i].standard, standard), ")", NULL});
    }
}

/* Most processes have none, and nothing to look for. */
static bool has_one(char *const environment[]) {
    static const char prefix[] = "HAKMEM_";
    for (; *environment != NULL; environment++)
        if (strncmp(*environment, prefix, sizeof prefix - 1) == 0)
            return true;
    return false;
}

void hak_policy_read(char *const environment[]) {
    static hak_policy from_environment;
    if (environment == NULL || !has_one(environment) || hak_os_is_privileged())
        return;
    from_environment = standard_policy;
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        read_option(&options[i], &from_environment, environment);
    atomic_store_explicit(&current, &from_environment, memory_order_release);
}

void hak_policy_start(char *const environment[]) {
    static HAK_EARLY atomic_flag was_read = ATOMIC_FLAG_INIT;
    if (environment != NULL && !atomic_flag_test_and_set(&was_read))
        hak_policy_read(environment);
}
