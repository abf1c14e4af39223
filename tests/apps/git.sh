# A repository: commits, branches, a merge, log, diff, blame, repack with threads, clone, fsck.
# shellcheck source=need.sh
source "$(dirname "$0")/need.sh"
set -euo pipefail
need git

export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a
export GIT_COMMITTER_EMAIL=a@example.org GIT_AUTHOR_DATE='2001-01-01T00:00:00Z'
export GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE GIT_CONFIG_NOSYSTEM=1
git init -q -b main repository && cd repository
for round in 1 2 3 4 5; do
    for file in {1..60}; do
        for line in {1..40}; do echo "file $file line $((line * round % 17))"; done >"f$file"
    done
    git add . && git commit -q -m "round $round"
done
git checkout -q -b side HEAD~2 && echo side >side && git add side && git commit -q -m side
git checkout -q main && git merge -q -m merged side
git log --oneline --graph --stat | md5sum
git log --format='%h %s' && git diff HEAD~4 | md5sum && git blame f7 | md5sum
git repack -q -a -d --threads=2 && git fsck 2>&1 | sort
git clone -q . ../copy && git -C ../copy rev-parse HEAD && git grep -c 'line 16' | md5sum
