/* Small helpers for threads and children, so that the tests read as their story. */
#ifndef HAKMEM_TESTS_THREADS_H
#define HAKMEM_TESTS_THREADS_H

#include <pthread.h>
#include <sys/types.h>

/* Starts a thread with a 64 KiB stack; fails the test when that is impossible. */
pthread_t thread_start(void *(*body)(void *), void *argument);
void *thread_join(pthread_t thread);

/* Runs `body` in `count` threads, each with the argument array + i * size, and waits for all. */
void threads_run(unsigned count, void *(*body)(void *), void *arguments, size_t size);

/* Waits for `child`; fails the test unless it exited with status 0. */
void child_must_succeed(pid_t child);

/* Starts this program once more with these arguments, the first of which is its name. */
pid_t start_again(char *const arguments[]);

/* Runs this program once more with these arguments, the first of which is its name. `text` becomes
 * what it writes to `descriptor`, as far as `size` bytes hold it with a zero at the end. Returns
 * its wait status. */
int run_again(char *const arguments[], int descriptor, char *text, size_t size);

/* Ends the process by SIGALRM when it hangs: after twenty minutes, whatever it does. Tests need
 * some seconds, and a machine that is busy with other things may need many times as long for them.
 */
void hang_limit(void);

#endif
