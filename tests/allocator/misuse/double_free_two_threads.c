/* Frees a small block that another thread has freed, and which lies in that thread's cache. */
#include "misuse.h"

#include <pthread.h>

static void *free_it(void *block) {
    free(block);
    return NULL;
}

int main(void) {
    void *block = launder(malloc(64));
    pthread_t thread;
    if (pthread_create(&thread, NULL, free_it, block) != 0 || pthread_join(thread, NULL) != 0)
        return 1;
    free(block);
    return 0;
}
