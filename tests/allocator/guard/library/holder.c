/* A library that a program loads while it runs, with variables of its own. */
#include <stdlib.h>

void *held;
_Thread_local void *held_by_thread;

void hold(size_t size);
void hold(size_t size) {
    held = malloc(size);
    held_by_thread = malloc(size);
}
