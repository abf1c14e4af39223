/* Signals that options name. */
#include "base/fatal.h"
#include "os/os.h"
#include "os/tell.h"
#include "policy/policy.h"

typedef struct awaited_signal {
    enum hak_option_index option;
    int signal; /* 0: none */
    void (*handler)(int signal);
} awaited_signal;

static awaited_signal awaited[2]; /* that of heap profiles, and that of the file */

void hak_policy_on_signal(enum hak_option_index option, void (*handler)(int signal)) {
    int signal = (int)*hak_policy_at(hak_policy_now(), option);
    if (signal == 0)
        return;
    if (hak_os_on_signal(signal, handler))
        awaited[option == HAK_OPTION_conf_signal] = (awaited_signal){option, signal, handler};
    else
        hak_message(
            "hakmem: %s: the program has a handler of its own, or the system refuses; not used",
            hak_options[option].variable);
}

void hak_policy_look_at_signals(void) {
    for (unsigned i = 0; i < 2; i++) {
        awaited_signal one = awaited[i];
        if (one.signal != 0 && !hak_os_is_handler(one.signal, one.handler))
            hak_tell("%s: the program handles signal %zu itself by now, so it does nothing here",
                     hak_options[one.option].variable, (size_t)one.signal);
    }
}
