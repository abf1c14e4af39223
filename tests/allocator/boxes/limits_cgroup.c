/* What cgroups grant, read from trees of files such as the kernel shows: version 2 and 1, nested,
 * in containers with a namespace and without, and none at all. */
#include "limits/limit.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../support/check.h"

static char root[64] = "/tmp/hakmem-cgroup-XXXXXX";

/* Writes a file of the tree, with the folders above it. */
static void put(const char *name, const char *content) {
    char path[512];
    int length = snprintf(path, sizeof path, "%s%s", root, name);
    for (char *at = path + strlen(root) + 1; *at; at++)
        if (*at == '/') {
            *at = '\0';
            mkdir(path, 0700);
            *at = '/';
        }
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK_THAT(file >= 0 && length > 0, "%s", path);
    CHECK(write(file, content, strlen(content)) == (ssize_t)strlen(content));
    close(file);
}

static void run(const char *command) {
    char line[256];
    snprintf(line, sizeof line, "%s %s/*", command, root);
    CHECK(system(line) == 0);
}

static void says(size_t expected) {
    size_t limit = hak_cgroup_limit(SIZE_MAX);
    CHECK_THAT(limit == expected, "%zu instead of %zu", limit, expected);
    run("rm -rf");
}

static void version_2_least_of_nested_groups(void) {
    put("/proc/thread-self/cgroup", "0::/a/b/c\n");
    put("/proc/thread-self/mountinfo",
        "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "31 22 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup rw\n");
    put("/sys/fs/cgroup/a/b/c/memory.max", "max\n");
    put("/sys/fs/cgroup/a/b/memory.max", "104857600\n");
    put("/sys/fs/cgroup/a/memory.max", "209715200\n");
    says(104857600);
}

/* A container that sees its own part of the hierarchy alone. */
static void version_2_in_a_namespace(void) {
    put("/proc/thread-self/cgroup", "0::/\n");
    put("/proc/thread-self/mountinfo", "31 22 0:28 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
    put("/sys/fs/cgroup/memory.max", "5000000\n");
    says(5000000);
}

static void outside_of_the_namespace(void) {
    put("/proc/thread-self/cgroup", "0::/../other\n");
    put("/proc/thread-self/mountinfo", "31 22 0:28 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
    put("/sys/fs/cgroup/memory.max", "7000000\n");
    put("/sys/fs/cgroup/other/memory.max", "1\n");
    says(7000000);
}

static void version_1_among_others(void) {
    put("/proc/thread-self/cgroup",
        "9:name=systemd:/x\n4:cpu,memory:/docker/abc/inner\n3:cpuset:/y\n0::/z\n");
    put("/proc/thread-self/mountinfo",
        "33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
        "35 31 0:32 /docker/abc /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,cpu,memory\n"
        "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "8000000\n");
    put("/sys/fs/cgroup/memory/inner/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/cpuset/memory.limit_in_bytes", "1\n");
    says(8000000);
}

static void no_limit_anywhere(void) {
    put("/proc/thread-self/cgroup", "4:memory:/a\n0::/a\n");
    put("/proc/thread-self/mountinfo", "35 31 0:32 / /m rw - cgroup cgroup rw,memory\n"
                                       "41 31 0:38 / /u rw - cgroup2 cgroup2 rw\n");
    put("/m/a/memory.limit_in_bytes", "9223372036854771712\n");
    put("/u/a/memory.max", "max\n");
    says(SIZE_MAX);
    put("/proc/thread-self/cgroup", "\n:\nnonsense\n0:\n");
    put("/proc/thread-self/mountinfo", "1 2 3\n- - - - - - - - - - - - - - - -\n");
    says(SIZE_MAX);
    CHECK(hak_cgroup_limit(7) == 7); /* no file at all */
}

/* Far more mounts than a buffer holds, and one line that is longer than it. */
static void behind_many_mounts(void) {
    static char text[1 << 18], path[3000];
    size_t length = 0;
    memset(path, 'p', sizeof path - 1);
    for (int i = 0; i < 1000; i++)
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   "%d 1 0:%d / /mnt/%d rw - tmpfs tmpfs rw,%s\n", i, i, i,
                                   i == 500 ? path : "size=1k");
    snprintf(text + length, sizeof text - length, "2 1 0:1 / /g rw - cgroup2 none rw\n");
    put("/proc/thread-self/cgroup", "0::/deep\n");
    put("/proc/thread-self/mountinfo", text);
    put("/g/deep/memory.max", "123456789\n");
    says(123456789);
}

static void pressure_of_the_group_or_the_machine(void) {
    CHECK(hak_cgroup_pressure() == 0);
    put("/proc/pressure/memory", "some avg10=12.34 avg60=0.00 avg300=0.00 total=0\n");
    CHECK(hak_cgroup_pressure() == 12);
    put("/proc/thread-self/cgroup", "0::/a\n");
    put("/proc/thread-self/mountinfo", "31 22 0:28 / /g rw - cgroup2 cgroup rw\n");
    put("/g/a/memory.pressure", "some avg10=99.99 avg60=0.00 avg300=0.00 total=0\n");
    CHECK(hak_cgroup_pressure() == 99);
    run("rm -rf");
}

int main(void) {
    CHECK(mkdtemp(root));
    hak_cgroup_root = root;
    version_2_least_of_nested_groups();
    version_2_in_a_namespace();
    outside_of_the_namespace();
    version_1_among_others();
    no_limit_anywhere();
    behind_many_mounts();
    pressure_of_the_group_or_the_machine();
    return rmdir(root);
}
