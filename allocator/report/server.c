#include "report/server.h"

#include "base/fatal.h"
#include "os/listener.h"
#include "os/lock.h"
#include "os/object.h"
#include "os/os.h"
#include "os/thread.h"
#include "pages/epoch.h"
#include "policy/policy.h"
#include "sampling/sampling.h"
#include "thread/thread.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    WAIT_MS = 1000, /* between two looks whether the program has ended */
    CHILD_MS = 1000 /* that a forked child has lived before it gets a thread */
};

/* ---- the thread ---- */

static void body(void) {
    bool ended = false;
    while (!ended && hak_listener_is_open()) {
        hak_socket next = hak_listener_wait(WAIT_MS, &ended);
        if (next.fd >= 0)
            hak_answer(next);
        hak_socket_close(next);
    }
    hak_listener_close();
    hak_listener_drop();
}

static hak_os_thread server;

/* ---- in a forked child ---- */

static _Atomic uint64_t due_ms; /* when its thread may start; 0: nothing waits for that */
static unsigned confinement;    /* of the process that had the first thread */

/* Asks for an epoch: it arms magazines, and what these serve comes by here, too. Where nothing is
 * ever purged, that one has no end. */
static void come_again(uint64_t milliseconds) {
    hak_epoch_hasten(hak_policy_purges() ? milliseconds : HAK_PURGE_NEVER_MS);
    hak_counting_changes();
}

/* The parent alone goes on listening at its socket. */
static void after_fork_in_child(void) {
    bool has_own = hak_listener_inherit() && hak_heap_arm();
    atomic_store(&due_ms, has_own ? hak_os_now_ms() + CHILD_MS : 0);
    if (has_own)
        come_again(CHILD_MS);
}

/* A handler of signals may have interrupted pthread_create, and a filter that came since the fork
 * may end the child for a socket. */
static bool may_start(void) {
    return !hak_forks && hak_os_confinement() == confinement && !hak_os_may_be_in_handler() &&
           hak_listener_may_open();
}

/* A refusal is not reported: stderr may be a file of the program's by now. */
static void start_own(void) {
    if (!hak_policy_purges())
        hak_epoch_hasten(0);
    if (hak_listener_open_own()) {
        if (hak_os_start_thread(&server))
            return;
        hak_listener_close();
    }
    hak_listener_drop();
}

static HAK_COLD void look_at_due(uint64_t due) {
    uint64_t now = hak_os_now_ms();
    bool starts = now >= due && may_start();
    uint64_t next = now < due ? due : now + CHILD_MS;
    if (!atomic_compare_exchange_strong(&due_ms, &due, starts ? 0 : next))
        return; /* another thread starts it */
    if (starts)
        start_own();
    else
        come_again(next - now);
}

void hak_server_look(void) {
    uint64_t due = atomic_load_explicit(&due_ms, memory_order_relaxed);
    if (HAK_UNLIKELY(due != 0))
        look_at_due(due);
}

/* ---- at load ---- */

/* NULL: it answers. */
static const char *start_server(const char *path) {
    char digits[HAK_BUILD_ID_ROOM];
    hak_os_build_id(digits); /* while no other thread can fork */
    const char *why = hak_listener_open(path);
    if (why != NULL)
        return why;
    server = (hak_os_thread){body, "hakmem-stats"};
    confinement = hak_os_confinement();
    if (pthread_atfork(NULL, NULL, after_fork_in_child) == 0 && hak_os_start_thread(&server))
        return NULL;
    hak_listener_close();
    return "no thread can be started";
}

void hak_server_start(char *const environment[], hak_fill *prometheus, hak_fill *json) {
    const char *path = hak_policy_text(environment, "HAKMEM_STATS_SOCKET");
    if (path == NULL || *path == '\0')
        return;
    hak_answers_are(prometheus, json);
    const char *why = start_server(path);
    if (why == NULL)
        return;
    hak_listener_drop();
    hak_message("hakmem: HAKMEM_STATS_SOCKET=%s: no statistics there: %s", path, why);
}
