/* What replaces a snapshot (policy.h): policy.c keeps them, sources.c fills the first. */
#pragma once

#include "os/lock.h"
#include "policy/policy.h"

/* The defaults of this build. */
extern HAK_HIDDEN const hak_policy hak_policy_standard;

/* Of who replaces the snapshot in force. */
extern HAK_HIDDEN hak_lock hak_policy_lock;

/* Copies word by word. What is copied of a snapshot may be of two: hak_policy_copy is not. */
void hak_policy_copy_fields(hak_policy *to, const hak_policy *from);

/* Puts a copy of the draft in force. Under the lock. */
void hak_policy_publish(const hak_policy *draft);
