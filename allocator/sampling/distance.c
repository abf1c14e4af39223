#include "sampling/distance.h"

#include "base/bits.h"

#include <string.h>

/* -ln(x) for x in (0, 1]: the exponent of x, and the series of atanh for what is left. libm would
 * be another library. Off by less than 0.00002. */
static double minus_ln(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 52) - 1023;
    bits = (bits & ((UINT64_C(1) << 52) - 1)) | (UINT64_C(1023) << 52);
    double m, ln2 = 0.6931471805599453;
    memcpy(&m, &bits, sizeof m);
    double s = (m - 1) / (m + 1), q = s * s;
    return -(exponent * ln2 + 2 * s * (1 + q * (1.0 / 3 + q * (1.0 / 5 + q * (1.0 / 7)))));
}

static const int64_t forever = INT64_C(1) << 62;

int64_t hak_distance(uint64_t *seed, uint64_t rate) {
    double uniform = ((double)(hak_random(seed) >> 11) + 1) * 0x1p-53;
    double far = minus_ln(uniform) * (double)rate;
    return rate != 0 && far < 0x1p62 ? (int64_t)far : forever;
}
