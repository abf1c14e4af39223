/* bin/drain.c: what others free reaches the owner, each block once. */
#include "pages/range.h"
#include "scenes.h"

enum { BLOCKS = 6 };

static hak_heap *owner;
static void *blocks[BLOCKS], *found[BLOCKS];
static size_t found_count;

static void begin(void) {
    owner = scene_heap(blocks, BLOCKS);
}

static void send(size_t first, size_t count) {
    hak_chains chains = {0};
    for (size_t i = first; i < first + count; i++) {
        scene_use(blocks[i]);
        hak_chains_add_run(&chains, hak_owner_of(blocks[i]), &blocks[i], 1);
    }
    hak_chains_send(&chains);
}

static void one_chain(void) {
    send(0, 3);
}

static void two_chains(void) {
    send(3, 1);
    send(4, 2);
}

static void receive(void) {
    hak_drain(owner);
    found_count += scene_empty(owner, found + found_count);
    hak_drain(owner);
    found_count += scene_empty(owner, found + found_count);
}

static void end(void) {
    hak_drain(owner);
    found_count += scene_empty(owner, found + found_count);
    MODEL_CHECK(found_count == BLOCKS && scene_same(blocks, found, BLOCKS));
}

const scenario scenario_remote = {
    "remote", "two threads send three chains, the owner takes them twice",
    begin,    {one_chain, two_chains, receive},
    end,      1 << MODEL_NO_RELEASE | 1 << MODEL_NO_ACQUIRE,
    0};
