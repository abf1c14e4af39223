/* The texts of a snapshot. The caller's buffer is filled as by snprintf. */
#pragma once

#include "report/snapshot.h"

size_t hak_report_json(const hak_snapshot *s, char *buffer, size_t size);
size_t hak_report_prometheus(const hak_snapshot *s, char *buffer, size_t size);
