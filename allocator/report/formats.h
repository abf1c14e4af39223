/* The texts of a snapshot. The caller's buffer is filled as by snprintf. */
#ifndef HAK_REPORT_FORMATS_H
#define HAK_REPORT_FORMATS_H

#include "report/snapshot.h"

size_t hak_report_json(const hak_snapshot *s, char *buffer, size_t size);
size_t hak_report_prometheus(const hak_snapshot *s, char *buffer, size_t size);

#endif
