#include "programs.h"

#include <stdlib.h>

bool programs_run_freely, programs_are_told;

void program_run(const uint8_t *bytes, size_t size) {
    static call calls[MOST_CALLS];
    size_t count = size / CALL_BYTES < MOST_CALLS ? size / CALL_BYTES : MOST_CALLS;
    for (size_t i = 0; i < count; i++)
        calls[i] = call_from(bytes + i * CALL_BYTES);
    system_begin();
    threads_run_calls(calls, count);
    threads_end();
    finish();
}
