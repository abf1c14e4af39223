#include "stats/stats.h"

hak_stats hak_events;
