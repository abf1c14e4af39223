/* The flat tables beside a range, one entry for each of its pages or segments (base/page_types.h).
 *
 *   | classes |  | owners |  | slabs |  ...  | segment 0 | segment 1 | ...
 *   ^ start    no access                     ^ base
 *
 * They have addresses for the whole range from the beginning, and memory for what is in use. All
 * under the segment lock. */
#pragma once

#include "base/types.h"
#include "os/os.h"

/* Bytes of address space that the tables of so many segments take; a multiple of a segment's. */
size_t hak_tables_size(size_t segments);

/* Says where each table of a range of so many segments lies. Nothing is mapped yet. */
void hak_tables_lay_out(hak_range *r, uintptr_t start, size_t segments);

/* Maps what the tables need for the first `segments` segments. */
enum hak_commit hak_tables_grow(hak_range *r, size_t segments);

/* Unmaps what was mapped of the tables of a range that nobody has heard of. */
void hak_tables_drop(hak_range *r);

/* Maps addresses of the range from *mapped to `to`, which *mapped is then, with huge pages as the
 * policy has it. */
enum hak_commit hak_range_map(const hak_range *r, uintptr_t *mapped, uintptr_t to);

/* A slab begins here: its segments' tables are touched from now on. By its owner, without the
 * lock. */
void hak_tables_expect_slab(const hak_slab *slab);

/* Gives back the tables' memory for those segments among pages first .. end of r that hold nothing:
 * their bitmaps, which are all zero then, and their slab entries once the neighbours on the same
 * system page hold nothing either. */
void hak_tables_purge(hak_range *r, size_t first, size_t end);
