/* sampling/distance.h: distances have the rate as their mean and the tail of an exponential, always
 * the same for one seed. */
#include "sampling/distance.h"

#include "../support/check.h"

static const int draws = 1000000;

/* One in e distances is longer than the mean. Both have five standard deviations of room. */
static void is_exponential(uint64_t rate) {
    uint64_t seed = 1;
    double sum = 0;
    int longer = 0;
    for (int i = 0; i < draws; i++) {
        int64_t distance = hak_distance(&seed, rate);
        CHECK(distance >= 0);
        sum += (double)distance;
        longer += (uint64_t)distance > rate;
    }
    double mean = sum / draws / (double)rate, tail = (double)longer / draws;
    CHECK_THAT(mean > 0.995 && mean < 1.005, "mean %f of the rate", mean);
    CHECK_THAT(tail > 0.3655 && tail < 0.3703, "%f are longer than the mean", tail);
}

/* None overflows: 2^62 at most, which also says that nothing is due. */
static void is_never_too_far(void) {
    uint64_t seed = 7;
    CHECK(hak_distance(&seed, 0) == INT64_C(1) << 62);
    for (int i = 0; i < 1000; i++) {
        int64_t distance = hak_distance(&seed, UINT64_MAX);
        CHECK(distance >= 0 && distance <= INT64_C(1) << 62);
    }
}

int main(void) {
    is_exponential(5000);
    is_exponential(512 * 1024);
    is_exponential(UINT64_C(1) << 40);
    is_never_too_far();
    return 0;
}
