/* No name of the family may be left to libc: libc's own heap would wake up beside ours. */
#include <string.h>

#include "../support/check.h"
#include "../support/family.h"
#include "../support/served.h"

int main(void) {
    int missing = 0;
    for (size_t i = 0; family_names[i]; i++) {
        const char *server = served_by(family_names[i]);
        if (!strstr(server, expected_server())) {
            say("%s is served by %s", family_names[i], server);
            missing++;
        }
    }
    CHECK_THAT(missing == 0, "%d names are not replaced", missing);
    return 0;
}
