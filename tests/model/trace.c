/* The steps of an execution, shown when it fails. */
#include <stdio.h>

#include "inside.h"

enum { STEPS = 1024 };

static struct step {
    int thread;
    const char *what;
    const void *place;
    uint64_t read, written;
} steps[STEPS];
static size_t step_count;

void model_trace(const char *what, const void *place, uint64_t read, uint64_t written) {
    if (what == NULL)
        step_count = 0;
    else if (step_count < STEPS)
        steps[step_count++] = (struct step){model_self, what, place, read, written};
}

void model_tell(void) {
    for (const struct step *s = steps; s < steps + step_count; s++)
        printf("    thread %d %-9s %p: %#llx, %#llx\n", s->thread, s->what, s->place,
               (unsigned long long)s->read, (unsigned long long)s->written);
}
