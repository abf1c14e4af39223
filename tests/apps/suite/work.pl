# Hashes of arrays of strings, regular expressions that backtrack, sorts, deep structures, forks
# that send what they computed through a pipe. Prints sums alone.
use strict;
use warnings;

my $seed = 1;
sub draw { return ($seed = $seed * 16807 % 2147483647) % shift }

my (%table, $total);
for my $i (1 .. 400_000) {
    push @{ $table{ draw(20_000) } }, "v$i" x draw(9);
    delete $table{ draw(20_000) } if $i % 5 == 0;
}
$total += length join ',', @{ $table{$_} } for sort { $a <=> $b } keys %table;
print "table $total ", scalar(keys %table), "\n";

my $text = join ' ', map { "word" . draw(5000) } 1 .. 60_000;
my %count;
$count{$1}++ while $text =~ /\b(w\w+?(\d)\d*\2)\b/g;
print "words ", scalar(keys %count), ' ', (sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count)[0], "\n";
(my $marked = $text) =~ s/(\d+)/sprintf '<%08x>', $1/ge;
print "marked ", length $marked, ' ', unpack('%32C*', $marked), "\n";

sub nest { my $d = shift; return $d ? { map { $_ => nest($d - 1) } 'a' .. 'f' } : [ 1 .. 4 ] }
sub sum { my $n = shift; my $s = 0; $s += $_ for ref $n eq 'ARRAY' ? @$n : map { sum($_) } values %$n; return $s }
print "nested ", sum(nest(6)), "\n";

my @closures = map { my $n = $_; sub { $n += shift; return $n } } 1 .. 50_000;
my $sum = 0;
$sum += $_->(3) for @closures;
print "closures $sum\n";

for my $child (1 .. 12) {
    pipe my $in, my $out or die;
    my $pid = fork // die;
    if (!$pid) {
        close $in;
        print {$out} join ',', sort map { $_ * $child % 1009 } 1 .. 20_000;
        exit 0;
    }
    close $out;
    local $/ = undef;
    my $said = <$in>;
    waitpid $pid, 0;
    print "child $child ", unpack('%32C*', $said), " $?\n";
}
