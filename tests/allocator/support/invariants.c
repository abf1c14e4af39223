#include "invariants.h"

#include <dlfcn.h>
#include <string.h>

#include "check.h"

void invariants_hold(void) {
    int (*validate)(void);
    void *found = dlsym(RTLD_DEFAULT, "hak_validate");
    CHECK_THAT(found, "no hak_validate: nothing would be checked");
    memcpy(&validate, &found, sizeof found);
    CHECK_THAT(validate() == 1, "the allocator found a broken invariant");
}
