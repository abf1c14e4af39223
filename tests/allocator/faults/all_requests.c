/* The requests of requests.h, under runners/fail_calls.c. */
#include "requests.h"

int main(void) {
    requests_run();
    return 0;
}
