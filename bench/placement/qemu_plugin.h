/* The part of qemu's plugin interface, version 1 (qemu 4.2 and later), that tracer.c needs. Debian
 * has no header for it. The functions are qemu's own; the plugin finds them when it is loaded. */
#ifndef PLACEMENT_QEMU_PLUGIN_H
#define PLACEMENT_QEMU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum { QEMU_PLUGIN_NO_REGISTERS = 0 };
enum { QEMU_PLUGIN_LOADS_AND_STORES = 3 };

typedef void (*qemu_plugin_tb_seen)(qemu_plugin_id_t, struct qemu_plugin_tb *);
typedef void (*qemu_plugin_touched)(unsigned, qemu_plugin_meminfo_t, uint64_t, void *);
typedef void (*qemu_plugin_called)(qemu_plugin_id_t, unsigned, int64_t, uint64_t, uint64_t,
                                   uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
typedef void (*qemu_plugin_ended)(qemu_plugin_id_t, void *);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, qemu_plugin_tb_seen);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, qemu_plugin_touched, int, int,
                                      void *);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t, qemu_plugin_called);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, qemu_plugin_ended, void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t);

/* What qemu asks of a plugin. */
extern int qemu_plugin_version;
int qemu_plugin_install(qemu_plugin_id_t, const void *, int, char **);

#endif
