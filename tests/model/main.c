/* Explores each scenario as it is, and made worse in each way that must be noticed.
 *
 *   check_models [MOST]   executions of a scenario at most; standard: all of them */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "thread/thread.h"
#include "inside.h"
#include "os/lock.h"

static const char *const faults[MODEL_FAULTS] = {"as it is", "nothing released", "nothing acquired",
                                                 "no total order", "nobody woken"};

static const scenario *const scenarios[] = {&scenario_lock, &scenario_remote, &scenario_heaps,
                                            &scenario_epoch};

/* False: not as it must be. */
static bool check(const scenario *s, enum model_fault fault, size_t most) {
    result r = explore(s, fault, most);
    bool good = (fault == MODEL_SOUND) == (r.failure == NULL);
    printf("%-10s %-17s %8zu executions, %8zu cut%s  %s%s\n", s->name, faults[fault], r.executions,
           r.cut, r.is_complete || r.failure != NULL ? "" : ", NOT ALL",
           r.failure != NULL ? r.failure : "no fault", good ? "" : "   <-- WRONG");
    if (!good)
        model_tell();
    return good;
}

int main(int count, char **words) {
    size_t most = count > 1 ? strtoull(words[1], NULL, 0) : SIZE_MAX;
    bool good = true;
    setvbuf(stdout, NULL, _IOLBF, 0);
    model_ignore(&hak_this_thread, sizeof hak_this_thread);
    model_ignore(&hak_locks_held, sizeof hak_locks_held);
    model_ignore(&hak_forks, sizeof hak_forks);
    model_ignore(&errno, sizeof errno);
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        const scenario *s = scenarios[i];
        printf("%s: %s\n", s->name, s->what);
        s->begin();
        for (unsigned fault = 0; fault < MODEL_FAULTS; fault++)
            if (fault == MODEL_SOUND || (s->faults >> fault & 1) != 0)
                good &= check(s, (enum model_fault)fault, most);
    }
    return !good;
}
