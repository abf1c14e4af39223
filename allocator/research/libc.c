#include "research/libc.h"

#include "base/fatal.h"
#include "include/hakmem_research.h"
#include "policy/policy.h"

#include <dlfcn.h>
#include <unistd.h>

_Atomic int hak_server;
hak_libc hak_libc_functions;

/* In the next object behind ours that has the name: libc, as a rule. POSIX lets dlsym return
 * functions as data pointers. */
static bool find_all(hak_libc *libc) {
    bool all = true;
#define HAK_LIBC_FIND(type, name, parameters)                                                      \
    libc->name = (type(*) parameters)dlsym(RTLD_NEXT, #name);                                      \
    all = all && libc->name != NULL;
    HAK_LIBC_FUNCTIONS(HAK_LIBC_FIND)
#undef HAK_LIBC_FIND
    return all;
}

static int force_libc(void) {
    if (find_all(&hak_libc_functions))
        return HAK_SERVER_LIBC;
    hak_message("hakmem: HAKMEM_FORCE_LIBC=1: libc's functions are not there "
                "(a static program?); hakmem serves");
    return HAK_SERVER_CORE;
}

/* The lookup may allocate, and other threads allocate meanwhile: the core serves them. Free tells
 * the blocks of the two apart by their addresses. */
const hak_libc *hak_libc_decide(void) {
    static atomic_flag deciding = ATOMIC_FLAG_INIT;
    if (environ == NULL || atomic_flag_test_and_set(&deciding))
        return NULL;
    hak_policy_start(environ);
    int server = hak_policy_now()->force_libc != 0 ? force_libc() : HAK_SERVER_CORE;
    atomic_store_explicit(&hak_server, server, memory_order_release);
    return server == HAK_SERVER_LIBC ? &hak_libc_functions : NULL;
}

HAK_EXPORT int hak_libc_is_forced(void) {
    return hak_forced() != NULL;
}
