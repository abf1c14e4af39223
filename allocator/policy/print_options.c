/* Prints docs/options.md from the table of options; the build compares the two. */
#include <stdio.h>

int main(void) {
    puts("# Options\n\n"
         "Environment variables, read once when the library is loaded; ignored in setuid, setgid "
         "and\n"
         "otherwise privileged programs. All take whole numbers. A value that cannot be used is "
         "named\n"
         "on stderr, and the default holds.\n\n"
         "Made from `allocator/policy/options.def` by the target `print-options`:\n"
         "`<build>/allocator/print-options > docs/options.md`.\n\n"
         "| variable | default | range | meaning |\n"
         "| --- | ---: | --- | --- |");
#define HAK_OPTION(field, variable, standard, lowest, highest, help)                               \
    puts("| `" variable "` | " #standard " | " #lowest " to " #highest " | " help " |");
#include "policy/options.def"
#undef HAK_OPTION
    return 0;
}
