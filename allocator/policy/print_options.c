/* Prints docs/options.md from the tables of options; the build compares the two. */
#include "base/geometry.h"

#include <stdio.h>

#define HAK_OPTION(field, variable, kind, standard, lowest, highest, help)                         \
    printf("| `%s` | %ld | %s to %s | %s |\n", variable, (long)(standard), #lowest, #highest, help);

#define HAK_TEXT_OPTION(variable, help) printf("| `%s` | %s |\n", variable, help);

static void begin_table(const char *heading) {
    puts(heading);
    puts("| variable | default | range | meaning |\n"
         "| --- | ---: | --- | --- |");
}

static void print_introduction(void) {
    puts("# Options\n\n"
         "**For people who run programs with the library.** Look up here what each environment "
         "variable does; then\n"
         "you can change what the library keeps and when it gives memory back. "
         "[operations.md](operations.md) says when to.\n"
         "The [glossary](glossary.md) explains the words.\n\n"
         "The library reads the variables once, when it is loaded, and never in setuid, setgid "
         "and otherwise privileged programs. Most\n"
         "take whole numbers. A value that it cannot use, and a name that nobody reads, it tells "
         "once on stderr.\n"
         "Other places for options, and which of them change while a program runs: "
         "[limits.md](limits.md).\n\n"
         "`<build>/allocator/print-options > docs/options.md` makes this page from "
         "`allocator/policy/options*.def`.");
}

static void print_every_build(void) {
    begin_table("\n## Every build\n");
#include "policy/options.def"
    puts("\n- A purge delay of 0 can cost many times the time: "
         "[measured](results/allocators.md#the-purge-delay). With 3600000 only\n"
         "  malloc_trim and hak_purge give memory back.\n"
         "- Purging lazily is cheaper, but resident memory falls only when the system is short of "
         "it.\n"
         "- Huge blocks of which little was used give their memory back at once where they are "
         "beyond HAKMEM_HUGE_KEEP. Those\n"
         "  that are used as a whole wait like other memory.\n"
         "- HAKMEM_STATS_AT_EXIT, HAKMEM_LEAKS and HAKMEM_PROFILE_HEAP write nothing at the end of "
         "a program that `_exit` ends, or\n"
         "  a signal that it does not handle. Use HAKMEM_STATS_SOCKET and HAKMEM_PROFILE_SIGNAL "
         "there.\n"
         "- Without HAKMEM_PROFILE_SIGNAL or HAKMEM_CONF_SIGNAL at the start, `kill` with that "
         "signal ends the program.\n"
         "- The thread of HAKMEM_PURGE_THREAD begins with a malloc, and rests while nothing "
         "waits.");
}

static void print_texts(void) {
    puts("\n## Options that are no numbers\n\n"
         "| variable | meaning |\n"
         "| --- | --- |");
#include "policy/options_text.def"
    puts("\n[statistics.md](statistics.md#a-socket) says more of the socket.");
}

static void print_variants(void) {
    begin_table("\n## The guard variant, in addition\n");
#include "policy/options_guard.def"
    begin_table("\n## The hardened variant, in addition\n");
#include "policy/options_hardened.def"
    begin_table("\n## The research variant, in addition\n");
#include "policy/options_research.def"
}

int main(void) {
    print_introduction();
    print_every_build();
    print_texts();
    print_variants();
    return 0;
}
