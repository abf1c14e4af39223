# Hashes, strings, sorting, regular expressions, and a fork with a pipe.
# shellcheck source=need.sh
source "$(dirname "$0")/need.sh"
set -euo pipefail
need perl

perl -e '
use strict; use warnings;
my %h; my $x = 1;
for my $i (1 .. 200000) {
    $x = ($x * 16807) % 2147483647;
    push @{ $h{ $x % 5000 } }, "v$i" x ($i % 7);
}
my $total = 0;
for my $k (sort { $a <=> $b } keys %h) { $total += length join ",", @{ $h{$k} }; delete $h{$k} if $k % 3 }
print "$total ", scalar(keys %h), "\n";
my $text = join " ", map { "word" . ($_ * 37 % 1009) } 1 .. 20000;
my %count; $count{$1}++ while $text =~ /(word\d*7)\b/g;
print "$_ $count{$_}\n" for (sort keys %count)[0 .. 9];
$text =~ s/(\d+)/<$1>/g; print length $text, "\n";
pipe(my $in, my $out); my $pid = fork();
if (!$pid) { close $in; print $out "x" x 50000 for 1 .. 20; exit 0 }
close $out; my $got = 0; $got += length while <$in>; waitpid $pid, 0;
print "$got $?\n";
'
