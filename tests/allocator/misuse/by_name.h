/* C++'s operators and C23's functions: headers for C do not declare them, so they are looked up. */
#ifndef HAKMEM_TESTS_BY_NAME_H
#define HAKMEM_TESTS_BY_NAME_H

#include <dlfcn.h>
#include <stddef.h>

#include "../support/check.h"

typedef void *new_form(size_t size);
typedef void *new_aligned_form(size_t size, size_t alignment);
typedef void delete_form(void *block);
typedef void sized_form(void *block, size_t size); /* or an alignment */
typedef void aligned_sized_form(void *block, size_t alignment, size_t size);

#define NEW ((new_form *)by_name("_Znwm"))
#define NEW_ARRAY ((new_form *)by_name("_Znam"))
#define NEW_ALIGNED ((new_aligned_form *)by_name("_ZnwmSt11align_val_t"))
#define DELETE ((delete_form *)by_name("_ZdlPv"))
#define DELETE_SIZED ((sized_form *)by_name("_ZdlPvm"))
#define DELETE_ALIGNED ((sized_form *)by_name("_ZdlPvSt11align_val_t"))
#define FREE_SIZED ((sized_form *)by_name("free_sized"))
#define FREE_ALIGNED_SIZED ((aligned_sized_form *)by_name("free_aligned_sized"))

static inline void *by_name(const char *name) {
    void *address = dlsym(RTLD_DEFAULT, name);
    CHECK_THAT(address, "%s is not exported", name);
    return address;
}

#endif
