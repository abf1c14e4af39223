#include "served.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

const char *served_by(const char *name) {
    Dl_info found;
    void *address = dlsym(RTLD_DEFAULT, name);
    if (!address || !dladdr(address, &found) || !found.dli_fname)
        return "nothing";
    return found.dli_fname;
}

const char *expected_server(void) {
    const char *wanted = getenv("TEST_MALLOC_FROM");
    return wanted ? wanted : "libhakmem.so";
}

__attribute__((constructor)) static void check_server(void) {
    static const char *const names[] = {"malloc", "free", "calloc", "realloc"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *found = served_by(names[i]), *wanted = expected_server();
        CHECK_THAT(strstr(found, wanted),
                   "%s is served by %s, not by %s: for another library set TEST_MALLOC_FROM=NAME",
                   names[i], found, wanted);
    }
}
