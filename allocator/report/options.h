/* The options that may change while the program runs, with the values in force. */
#pragma once

#include "base/text.h"

/* Puts <quote>name<quote><equals>"value" for each, with commas between: purge_delay="500" or
 * "purge_delay":"500". A share stands as it was given: "80%". */
void hak_options_put(hak_text *text, const char *quote, const char *equals);
