/* Asks the library whether its own structures are sound. */
#ifndef HAKMEM_TESTS_INVARIANTS_H
#define HAKMEM_TESTS_INVARIANTS_H

/* Fails the test when the library finds a broken invariant. Call it while no other thread works. */
void invariants_hold(void);

#endif
