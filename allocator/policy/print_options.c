/* Prints docs/options.md from the tables of options; the build compares the two. */
#include "base/geometry.h"

#include <stdio.h>

#define HAK_OPTION(field, variable, standard, lowest, highest, help)                               \
    printf("| `%s` | %ld | %s to %s | %s |\n", variable, (long)(standard), #lowest, #highest, help);

static void begin_table(const char *heading) {
    puts(heading);
    puts("| variable | default | range | meaning |\n"
         "| --- | ---: | --- | --- |");
}

int main(void) {
    puts("# Options\n\n"
         "Environment variables, read once when the library is loaded; ignored in setuid, setgid "
         "and\n"
         "otherwise privileged programs. All take whole numbers. A value that cannot be used is "
         "named\n"
         "on stderr, and the default holds.\n\n"
         "Made from `allocator/policy/options*.def` by the target `print-options`:\n"
         "`<build>/allocator/print-options > docs/options.md`.");
    begin_table("\n## Every build\n");
#include "policy/options.def"
    begin_table("\n## The guard variant, in addition\n");
#include "policy/options_guard.def"
    begin_table("\n## The research variant, in addition\n");
#include "policy/options_research.def"
    return 0;
}
