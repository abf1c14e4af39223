/* The environment is read into the policy: good values count, bad ones are named and ignored, and
 * so are names that nobody reads. One source stands over the other in the documented order. */
#include "include/hakmem.h"
#include "policy/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../support/check.h"

static char text[4096];
#define KEEP "  HAKMEM_HUGE_KEEP = 77  (option; default 1536)\n"

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

/* A change is no start: until options are read, the start is the build's own. */
static void a_change_before_any_source_leaves_the_start(void) {
    CHECK(hak_policy_change("purge_delay", "3") == 0);
    CHECK(hak_policy_now()->purge_delay_ms == 3);
    CHECK(hak_policy_at_start(HAK_OPTION_purge_delay_ms) == 500);
}

static void good_values_count(void) {
    char *const environment[] = {(char *)"PATH=/bin", (char *)"HAKMEM_PURGE_DELAY=0",
                                 (char *)"HAKMEM_RESERVE=64", NULL};
    CHECK(strcmp(complaints(environment), "") == 0);
    CHECK(hak_policy_now()->purge_delay_ms == 0);
    CHECK(hak_policy_now()->reserve_mib == 64);
    CHECK_THAT(strcmp(said_by(hak_policy_tell),
                      "  HAKMEM_PURGE_DELAY = 0  (option; default 500)\n" KEEP
                      "  HAKMEM_RESERVE = 64  (option; default 1048576)\n") == 0,
               "%s", text);
}

static void what_is_not_set_has_its_default(void) {
    char *const environment[] = {(char *)"HAKMEM_PURGE_DELAYS=7", (char *)"HAKMEM_QUIET=1",
                                 (char *)"XHAKMEM_PURGE_DELAY=7", NULL};
    CHECK(strcmp(complaints(environment), "") == 0);
    char *const none[] = {(char *)"XHAKMEM_PURGE_DELAY=7", (char *)"HAKMEM_LLVM=20", NULL};
    CHECK(strcmp(complaints(none), "") == 0);
    hak_policy standard = {
#define HAK_OPTION(field, variable, kind, standard_value, lowest, highest, help)                   \
    .field = standard_value,
#include "policy/options.def"
#undef HAK_OPTION
    };
    standard.huge_keep_kib = 77;
    standard.quiet = 0;
    CHECK(memcmp(hak_policy_now(), &standard, sizeof standard) == 0);
    CHECK(strcmp(said_by(hak_policy_tell), KEEP) == 0);
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

static void sizes_have_units(void) {
    static const char *const same[] = {"10240K", "10M", "10m", "10MB", "10MiB", "10mib"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        char setting[64] = "HAKMEM_HARD_LIMIT=";
        strcat(setting, same[i]);
        char *const environment[] = {setting, NULL};
        CHECK_THAT(strcmp(complaints(environment), "") == 0, "%s", text);
        CHECK(hak_policy_now()->hard_limit == 10 << 20);
    }
}

static void a_limit_that_makes_no_sense_says_that_there_is_none(void) {
    static const char *const bad[] = {"40X", "10MX", "10MBs", "10iB", "10%%", "10Mi", "10 M"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char setting[64] = "HAKMEM_HARD_LIMIT=";
        strcat(setting, bad[i]);
        char *const environment[] = {setting, NULL};
        CHECK_THAT(strstr(complaints(environment), "; using 0 (no limit)\n"), "%s", text);
        CHECK(hak_policy_now()->hard_limit == 0);
    }
}

/* ---- names ---- */

/* Each line has the number of the process, for a server has many. `expected` is without. */
static void told(const char *setting, const char *expected) {
    char *const environment[] = {(char *)(uintptr_t)setting, NULL};
    char whole[512] = "";
    if (*expected != '\0')
        snprintf(whole, sizeof whole, "hakmem: process %d: %s", (int)getpid(),
                 expected + strlen("hakmem: "));
    CHECK_THAT(strcmp(complaints(environment), whole) == 0, "'%s' for %s", text, setting);
}

static void unknown_names_are_told_with_the_nearest(void) {
    told("HAKMEM_PURGE_DELY=7",
         "hakmem: HAKMEM_PURGE_DELY is no option; did you mean HAKMEM_PURGE_DELAY?\n");
    told("HAKMEM_huge_pages=1",
         "hakmem: HAKMEM_huge_pages is no option; did you mean HAKMEM_HUGE_PAGES?\n");
    told("HAKMEM_STATS_SOKET=/x",
         "hakmem: HAKMEM_STATS_SOKET is no option; did you mean HAKMEM_STATS_SOCKET?\n");
    told("HAKMEM_PROFILE_HAEP=/x",
         "hakmem: HAKMEM_PROFILE_HAEP is no option; did you mean HAKMEM_PROFILE_HEAP?\n");
    told("HAKMEM_QUEIT=1", "hakmem: HAKMEM_QUEIT is no option; did you mean HAKMEM_QUIET?\n");
    told("HAKMEM_CONF=stats_soket=/x", "hakmem: HAKMEM_CONF: stats_soket is no option\n");
    told("HAKMEM_ARENAS=1", "hakmem: HAKMEM_ARENAS is no option\n");
    told("HAKMEM_=1", "hakmem: HAKMEM_ is no option\n");
    char longest[200] = "HAKMEM_";
    memset(longest + 7, 'X', sizeof longest - 8);
    char *const environment[] = {longest, NULL};
    CHECK(strstr(complaints(environment), ": HAKMEM_XXX") != NULL);
}

static void names_of_tools_and_variants_are_not(void) {
    static const char *const others[] = {
        "HAKMEM_LLVM=20",       "HAKMEM_TRACE=x",      "HAKMEM_TRACE_RING=1",   "HAKMEM_SLOWDOWN=5",
        "HAKMEM_GUARD_SWEEP=0", "HAKMEM_FORCE_LIBC=1", "HAKMEM_LIBRARY_PATH=/x"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        told(others[i], "");
}

/* ---- strings and files ---- */

static void a_string_is_read_like_variables(void) {
    told("HAKMEM_CONF=purge_delay=7, huge_pages = 1 ,,\n# purge_thread=1\nRESERVE=32", "");
    CHECK(hak_policy_now()->purge_delay_ms == 7 && hak_policy_now()->huge_pages == 1);
    CHECK(hak_policy_now()->purge_thread == 0 && hak_policy_now()->reserve_mib == 32);
    told("HAKMEM_CONF=purge_delayed=7",
         "hakmem: HAKMEM_CONF: purge_delayed is no option; did you mean purge_delay?\n");
    told("HAKMEM_CONF=purge-delay=8,huge-pages=2", "");
    CHECK(hak_policy_now()->purge_delay_ms == 8 && hak_policy_now()->huge_pages == 2);
    told("HAKMEM_CONF=quiet=1,purge_delayed=7,purge_delay=x", "");
    told("HAKMEM_CONF=file=relative",
         "hakmem: HAKMEM_CONF: file=relative is not an absolute path; not read\n");
    told("HAKMEM_CONF=/etc/hakmem.conf", "hakmem: HAKMEM_CONF: /etc/hakmem.conf is no option; "
                                         "did you mean file=/etc/hakmem.conf?\n");
    told("HAKMEM_CONF=", "");
    told("HAKMEM_CONF_SIGNAL=40",
         "hakmem: HAKMEM_CONF_SIGNAL: nothing to read then: HAKMEM_CONF names no file\n");
}

static char path[] = "/tmp/hakmem-conf-XXXXXX";

static void write_bytes(const char *content, size_t length) {
    int file = open(path, O_WRONLY | O_TRUNC);
    CHECK(file >= 0 && write(file, content, length) == (ssize_t)length);
    close(file);
}

static void write_file(const char *content) {
    write_bytes(content, strlen(content));
}

static void later_sources_stand_over_earlier_ones(void) {
    char named[128];
    snprintf(named, sizeof named, "HAKMEM_CONF=file=%s,reserve=64", path);
    char *const environment[] = {(char *)"HAKMEM_HUGE_PAGES=0", named, NULL};
    write_file("# comment, with a comma\npurge_delay=9\nreserve=128\nhuge_pages=2\n");
    CHECK_THAT(strcmp(complaints(environment), "") == 0, "%s", text);
    CHECK(hak_policy_now()->purge_delay_ms == 9); /* the file */
    CHECK(hak_policy_now()->reserve_mib == 64);   /* the string */
    CHECK(hak_policy_now()->huge_pages == 0);     /* the variable */
    CHECK(hak_policy_now()->huge_keep_kib == 77); /* the program: hakmem_conf below */
}

static void read_again(void) {
    CHECK(hak_policy_read_again() >= 0);
}

static void told_again(const char *content, const char *lines[]) {
    char expected[512] = "", line[256];
    write_file(content);
    for (; *lines != NULL; lines++) {
        snprintf(line, sizeof line, "hakmem: process %d: %s%s\n", (int)getpid(), path, *lines);
        strcat(expected, line);
    }
    CHECK_THAT(strcmp(said_by(read_again), expected) == 0, "'%s' for '%s'", text, expected);
}

/* Options that count at the start alone stay as they are, and are told. */
static void the_file_is_read_again(void) {
    told_again("purge_delay=11\nreserve=256\nprofile_signal=12\nhard_limit=80%\n",
               (const char *[]){": purge_delay 9 -> 11",
                                ": reserve counts at the start alone; not changed",
                                ": profile_signal counts at the start alone; not changed",
                                ": hard_limit 0 -> 80%", NULL});
    told_again("purge_dely=1\n", (const char *[]){": purge_dely is no option; did you mean "
                                                  "purge_delay?",
                                                  " was read again: no change", NULL});
    CHECK(hak_policy_now()->purge_delay_ms == 11 && hak_policy_now()->reserve_mib == 64);
    CHECK(hak_policy_now()->profile_signal == 0);
    CHECK(hak_policy_at_start(HAK_OPTION_purge_delay_ms) == 9);
}

/* huge_pages is a variable here. */
static void a_file_that_is_read_again_stands_over_variables(void) {
    told_again("huge_pages=2\nhard_limit=80%\n", (const char *[]){": huge_pages 0 -> 2", NULL});
    CHECK(hak_policy_now()->huge_pages == 2);
}

static void an_entry_that_is_gone_leaves_its_option(void) {
    told_again("", (const char *[]){" was read again: no change", NULL});
    CHECK(hak_policy_now()->huge_pages == 2 && hak_policy_now()->purge_delay_ms == 11);
    told_again("quiet=1,purge_delay=12\n", (const char *[]){NULL});
    CHECK(hak_policy_now()->purge_delay_ms == 12);
}

static void refused(const char *why) {
    char named[128], expected[256];
    snprintf(named, sizeof named, "HAKMEM_CONF=file=%s", path);
    snprintf(expected, sizeof expected, "hakmem: %s %s; not read\n", path, why);
    told(named, expected);
    CHECK(hak_policy_now()->purge_delay_ms == 500);
    CHECK(hak_policy_read_again() < 0);
}

static void files_of_others_are_not_believed(void) {
    static char much[5000];
    CHECK(chmod(path, 0620) == 0);
    refused("may be written to by others");
    CHECK(chmod(path, 0600) == 0);
    memset(much, '\n', sizeof much - 1);
    write_file(much);
    refused("is too long");
    static const char half[] = "purge_delay=11\n\0hard_limit=1G\n";
    write_bytes(half, sizeof half - 1);
    refused("has a zero byte, so it is no text");
    if (geteuid() == 0) {
        CHECK(chown(path, 12345, 12345) == 0);
        refused("belongs to another user");
    }
    CHECK(unlink(path) == 0);
    refused("cannot be opened");
    CHECK(mkdir(path, 0700) == 0);
    refused("is no regular file");
    CHECK(rmdir(path) == 0);
}

/* ---- while the program runs ---- */

static void some_may_change(void) {
    CHECK(hak_policy_change("purge_delay", "20") == 0);
    CHECK(hak_policy_now()->purge_delay_ms == 20);
    CHECK(hak_policy_change("HAKMEM_PURGE_DELAY", "30") == 0);
    CHECK(hak_policy_now()->purge_delay_ms == 30);
    CHECK(hak_policy_change("purge_dely", "20") == ENOENT);
    CHECK(hak_policy_change("purge_delay", "soon") == EINVAL);
    CHECK(hak_policy_change("reserve", "64") == EPERM);
    CHECK(hak_policy_now()->purge_delay_ms == 30);
}

/* What a program may have: the lowest of all sources. */
const char hakmem_conf[] = "huge_keep=77,purge_delay=500";

int main(void) {
    int file = mkstemp(path);
    CHECK(file >= 0);
    close(file);
    a_change_before_any_source_leaves_the_start();
    what_is_not_set_has_its_default();
    good_values_count();
    bad_values_are_named_and_ignored();
    sizes_have_units();
    a_limit_that_makes_no_sense_says_that_there_is_none();
    unknown_names_are_told_with_the_nearest();
    names_of_tools_and_variants_are_not();
    a_string_is_read_like_variables();
    later_sources_stand_over_earlier_ones();
    the_file_is_read_again();
    a_file_that_is_read_again_stands_over_variables();
    an_entry_that_is_gone_leaves_its_option();
    files_of_others_are_not_believed();
    some_may_change();
    hak_policy_read(NULL);
    return 0;
}
