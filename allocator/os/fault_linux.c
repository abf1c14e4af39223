#include "os/fault.h"

#include "os/calls.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>

static bool allow(void *start, size_t size, int access) {
    return HAK_KEEP_ERRNO(syscall(SYS_mprotect, start, size, (long)access)) == 0;
}

bool hak_os_protect(void *start, size_t size) {
    return allow(start, size, PROT_NONE);
}

bool hak_os_unprotect(void *start, size_t size) {
    return allow(start, size, PROT_READ | PROT_WRITE);
}

static void (*explain_fault)(const void *address);
static struct sigaction before;

/* A fault happens again when we return, and then has its ordinary effect; a signal that somebody
 * sent does not. */
static void end_as_usual(int number, const siginfo_t *info) {
    struct sigaction usual = {.sa_handler = SIG_DFL};
    if (before.sa_handler == SIG_IGN && info->si_code <= 0)
        return;
    sigaction(number, &usual, NULL);
    if (info->si_code <= 0)
        syscall(SYS_tgkill, (long)hak_call_process(), (long)hak_call_thread(), (long)number);
}

static void on_fault(int number, siginfo_t *info, void *context) {
    int saved_errno = errno;
    if (info->si_code > 0)
        explain_fault(info->si_addr);
    errno = saved_errno;
    if ((before.sa_flags & SA_SIGINFO) != 0)
        before.sa_sigaction(number, info, context);
    else if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN)
        end_as_usual(number, info);
    else
        before.sa_handler(number);
}

/* The earlier handler runs with those signals blocked that it asked for. */
void hak_os_watch_faults(void (*explain)(const void *address)) {
    int saved_errno = errno;
    explain_fault = explain;
    if (sigaction(SIGSEGV, NULL, &before) == 0) {
        struct sigaction ours = {.sa_sigaction = on_fault, .sa_mask = before.sa_mask};
        ours.sa_flags = SA_SIGINFO | SA_ONSTACK | (before.sa_flags & (SA_NODEFER | SA_RESTART));
        sigaction(SIGSEGV, &ours, NULL);
    }
    errno = saved_errno;
}
