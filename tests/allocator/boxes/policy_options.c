/* The environment is read into the policy: good values count, bad ones are named and ignored. */
#include "policy/policy.h"

#include <string.h>
#include <unistd.h>

#include "../support/check.h"

static char text[4096];

static char *const *to_read;

static void read_it(void) {
    hak_policy_read(to_read);
}

/* Returns what `action` writes to stderr. */
static const char *said_by(void (*action)(void)) {
    int ends[2], saved = dup(STDERR_FILENO);
    CHECK(pipe(ends) == 0);
    dup2(ends[1], STDERR_FILENO);
    action();
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(ends[1]);
    ssize_t length = read(ends[0], text, sizeof text - 1);
    close(ends[0]);
    text[length > 0 ? length : 0] = '\0';
    return text;
}

static const char *complaints(char *const environment[]) {
    to_read = environment;
    return said_by(read_it);
}

static void good_values_count(void) {
    char *const environment[] = {(char *)"PATH=/bin", (char *)"HAKMEM_PURGE_DELAY=0",
                                 (char *)"HAKMEM_RESERVE=64", NULL};
    CHECK(strcmp(complaints(environment), "") == 0);
    CHECK(hak_policy_now()->purge_delay_ms == 0);
    CHECK(hak_policy_now()->reserve_mib == 64);
    CHECK_THAT(strcmp(said_by(hak_policy_tell),
                      "  HAKMEM_PURGE_DELAY = 0  (option; default 500)\n"
                      "  HAKMEM_RESERVE = 64  (option; default 1048576)\n") == 0,
               "%s", text);
}

static void what_is_not_set_has_its_default(void) {
    char *const environment[] = {(char *)"HAKMEM_PURGE_DELAYS=7", (char *)"HAKMEM_PURGE=7",
                                 (char *)"XHAKMEM_PURGE_DELAY=7", NULL};
    CHECK(strcmp(complaints(environment), "") == 0);
    hak_policy standard = {
#define HAK_OPTION(field, variable, standard_value, lowest, highest, help) .field = standard_value,
#include "policy/options.def"
#undef HAK_OPTION
    };
    CHECK(memcmp(hak_policy_now(), &standard, sizeof standard) == 0);
    CHECK(strcmp(said_by(hak_policy_tell), "") == 0);
}

static void bad_values_are_named_and_ignored(void) {
    static const char *const bad[] = {"",       " 5", "5 ", "-1",  "+5",
                                      "0x10",   "5k", "ja", "1.5", "99999999999999999999999",
                                      "3600001"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char setting[64] = "HAKMEM_PURGE_DELAY=";
        strcat(setting, bad[i]);
        char *const environment[] = {setting, NULL};
        CHECK_THAT(strstr(complaints(environment), setting), "'%s' for '%s'", text, setting);
        CHECK_THAT(strncmp(text, "hakmem: ", 8) == 0 && strchr(text, '\n') == strrchr(text, '\n'),
                   "%s", text);
        CHECK(hak_policy_now()->purge_delay_ms == 500);
    }
}

int main(void) {
    what_is_not_set_has_its_default();
    good_values_count();
    bad_values_are_named_and_ignored();
    hak_policy_read(NULL);
    return 0;
}
