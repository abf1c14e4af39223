/* The shared types. Their pictures and invariants are in heap_types.h and page_types.h.
 *
 * Glossary
 *   heap      what one thread owns: magazines and slabs. Recycled when its thread ends.
 *   seat      what the other threads know of a heap. Never freed.
 *   magazine  a thread's small stack of free blocks of one class; malloc pops, free pushes.
 *   slab      a run of pages cut into blocks of one class, with a bitmap of its free blocks.
 *   run       consecutive pages taken from a segment: a slab or a large block.
 *   remote    freed by a thread that does not own the slab; handed back in chains.
 *   dirty     free pages whose memory the system still backs; purge gives it back.
 *
 * Nothing lies inside free blocks, so one can be unmapped, and a write to it after free corrupts no
 * list of ours. The one exception is the carrier of a remote chain. It holds addresses while it is
 * on its way. */
#pragma once

#include "base/heap_types.h"
#include "base/page_types.h"
