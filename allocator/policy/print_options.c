/* Prints the rows of the tables in docs/options.md, whose order these have; the build compares. */
#include "base/geometry.h"

#include <stdio.h>

#define HAK_OPTION(field, variable, kind, standard, lowest, highest, help)                         \
    printf("| `%s` | %ld | %s to %s | %s |\n", variable, (long)(standard), #lowest, #highest, help);
#define HAK_TEXT_OPTION(variable, help) printf("| `%s` | %s |\n", variable, help);

int main(void) {
#include "policy/options.def"
#include "policy/options_text.def"
#include "policy/options_guard.def"
#include "policy/options_hardened.def"
#include "policy/options_research.def"
    return 0;
}
