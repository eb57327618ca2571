#!/usr/bin/env bash
# snapdiff of hand-made snapshots: matching of processes, comparisons, and
# malicious snapshots.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$tmp" || exit 1

# Make FILE of a process 7 and its thread 8: make FILE NAME=VALUE ..., where
# NAME is start, tstart (of the thread), a file of the record (its text, with
# escapes of Python), or mem and text (lines for snapasm.py).
make() {
	local file=$1

	shift
	PYTHONPATH=$tests/snap6 python3 - "$@" <<'END' >"$file"
import sys
from snapasm import assemble

def escape(s):
    return ''.join(c if ' ' <= c <= '~' and c not in '"\\'
                   else '\\x%02x' % ord(c) for c in s)

def stat(pid, start):
    return '%d (prog) S 1 7 7 0 -1 0 0 0 0 0 1 2 0 0 20 0 2 0 %s 5 22' % (
        pid, start)

a = dict(start='99', tstart='99', mem='', maps='''\
10000-14000 rw-p 00000000 00:00 0
20000-24000 r--p 00000000 fe:00 77 /lib/x
''')
for arg in sys.argv[1:]:
    name, value = arg.split('=', 1)
    a[name] = value.encode().decode('unicode_escape')
mem, text = a.pop('mem'), a.pop('text', '')
start, tstart = a.pop('start'), a.pop('tstart')

def record(pid, files):
    lines = ['record %d proc' % pid, 'data {', r'"linux amd64 1\n"']
    for name, text in files.items():
        lines += [r'"%s\n"' % name, 'data "%s"' % escape(text)]
    return lines + ['}']

lines = [r'"process snapshot 1735689600 ann@gnot amd64 1 \"prog\"\n"']
lines += record(7, dict(stat=stat(7, start), comm='prog\n', **a))
if mem:
    lines += ['record 7 mem', mem]
if text:
    lines += ['record 7 text', text]
lines += record(8, dict(thread='7\n', stat=stat(8, tstart), comm='worker\n'))
sys.stdout.buffer.write(assemble('\n'.join(lines)))
END
}

# diffs OLD NEW [OPTION ...]: print the exit status and the output
diffs() {
	local old=$1 new=$2

	shift 2
	rc=0
	timeout 20 "$BUILD/snapdiff" "$@" "$old" "$new" >out 2>err || rc=$?
	echo "$rc"
	sed 1,2d out
	cat err
}

# rows OLD NEW [OPTION ...]: print the changed mappings
rows() {
	diffs "$@" | sed '1d;/ADDRESSES/d' | tr -s ' '
}

page='number 1\nsegment 0x10000 1024\nr "A"*1024'
make a 'environ=A=1\0B=2\0' 'limits=x' 'fd/3=/a' \
    'fdinfo/3=pos:\t0\nflags:\t0100\n' "mem=$page"
make b 'environ=A=1\0B=2\0' 'limits=x' 'fd/3=/a' \
    'fdinfo/3=pos:\t0\nflags:\t0100\n' "mem=$page"
is "$(diffs a b)" 0 "equal snapshots have no changes"
make b start=100
is "$(diffs a b)" "1
- process 7 prog
+ process 7 prog" "a process with another start time is another one"
is "$(diffs a b -p 7 | sed -n '1,2p')" "1
! process 7 prog" "-p compares it nevertheless"
make b start=0 'environ=A=1\0B=2\0' 'fd/3=/a' "mem=$page"
is "$(diffs a b)" 0 "an unknown start time and missing limits are no change"
make b tstart=100 "mem=$page"
is "$(diffs a b)" "1
! process 7 prog
  - thread 8: worker
  + thread 8: worker" "a thread with another start time is another one"
make b "mem=$page" 'limits=x' 'environ=B=3\0C=4\0D\0' 'fd/3=/b' \
    'fdinfo/3=pos:\t9\nflags:\t0100\n'
is "$(diffs a b)" "1
! process 7 prog
  ! descriptor 3: /b, was /a
  - environment A: 1
  ! environment B: 3, was 2
  + environment C: 4
  + environment D: " "the position of a replaced descriptor is not compared"
make a 'status=SigIgn:\t0\nUid:\t1\t1\t1\t1\n'
make b 'status=SigIgn:\t2\nUid:\t0\t1\t1\t1\n' 'sigaction=2 1 0 0 0\n'
is "$(diffs a b)" "1
! process 7 prog
  ! credential Uid: 0 1 1 1, was 1 1 1 1
  ! signals SigIgn: 2, was 0" "without actions in one, masks are compared"
make a 'sigaction=2 0 0 0 0\n15 401000 4000000 7f0000 2\n'
make b 'sigaction=2 1 0 0 0\n15 401000 4000000 7f0000 2\n'
is "$(diffs a b)" "1
! process 7 prog
  ! signal 2 SIGINT: ignored, was default" "changed signal actions are reported"

# memory
make a "mem=$page"
make b 'missing=10000-11000 excluded\n'
is "$(rows a b)" "! process 7 prog
! 10000-14000 16K 0B 0B 0B 4.0K rw-p -" \
    "memory that one snapshot lacks is not compared"
is "$(diffs b b)" 0 "nor is memory that both lack"
make b 'missing=10000-11000 guard\n'
is "$(rows a b -l)" "! process 7 prog
! 10000-14000 16K 0B 0B 1.0K rw-p -
 10000-10400 1.0K gone" "memory that became a guard page is gone"
file='number 1\nsegment 0x20000 4096\nr "F"*1024\nr "F"*1024\nr "F"*1024\nr "F"*1024'
make a 'pages=10000 11000\n'
make b 'pages=10000 11000\n' "mem=$file"
is "$(diffs a b)" 0 "new resident pages of a file are no change"
make b 'pages=20000 21000\n' "mem=$file"
is "$(rows a b)" "! process 7 prog
! 20000-24000 16K 4.0K 0B 0B r--p /lib/x" \
    "modified pages of a file are a change"
make b 'pages=20000 21000\n' 'maps=10000-14000 rw-p 00000000 00:00 0\n20000-24000 r--p 00000000 00:00 0\n'
is "$(rows a b)" "! process 7 prog
! 20000-24000 16K 0B 0B 0B r--p - (was /lib/x)" \
    "a replaced mapping of the same size is reported"

# huge mappings without pages
far=fffffffffffff000
make a "maps=1000-$far r--p 00000000 fe:00 77 /lib/x\n" "pages=1000 $far\n"
is "$(diffs a a)" 0 "missing pages of a process are no change"
make b "maps=1000-$far r--p 00000000 fe:00 77 /lib/x\n" 'pages=0 1000\n'
is "$(rows a b)" "! process 7 prog
! 1000-$far 16E 16E 0B 0B r--p /lib/x" \
    "private pages differ from those of the file"
far=fffffffffff00000
for f in a b; do
	own="20000 $far"
	[ $f = a ] || own='0 1000'
	make $f 'exe=/lib/x\n' "pages=$own\n" \
	    "maps=20000-$far r--p 00000000 fe:00 77 /lib/x\n" \
	    'text=segment 0x5000 2548\nr "F"*1024\nz\nr "G"*500'
done
is "$(rows a b -l | sed '1,2d')" "\
 20000-20400 1.0K new
 20800-209f4 500B new" \
    "new pages of an executable, without zeros, up to its end"

# several parts
make a 'environ=A=1\0'
make b 'environ=A=2\0'
"$BUILD/snapcat" -o one a a
"$BUILD/snapcat" -o two a b
is "$(diffs one two | sed '/^  [^!]/d')" "1
! process 7 prog
  ! environment A: 2, was 1" "processes are matched within their parts"
is "$(diffs one one)" 0 "equal parts have no changes"
"$BUILD/snapcat" -o three a b a
for f in one two three; do
	timeout 20 "$BUILD/snapdiff" "$f" >out 2>err
	echo "$f $? $(grep -c '^! process' out) $(cat err)"
done >got
is "$(cat got)" "one 0 0 
two 1 1 
three 0 0 " "snapdiff FILE compares its moments"
# process 16777223 is an early copy of process 7
make plain "mem=$page"
make early "mem=$page\nrecord 16777223 mem\n$page"
"$BUILD/snapcat" -o one plain plain
"$BUILD/snapcat" -o two early early
is "$(diffs one two)" 0 "snapcat leaves out the early copies of each input"

# neither zeros nor missing private pages are data
for i in 1 2 3; do
	make $i 'pages=20000 22000\n' "mem=number 1
segment 0x10000 4096
$(for k in $(seq $i); do printf 'r a%d\\n' "$k"; done)z $((4 - i))"
done
timeout 20 "$BUILD/snapdiff" -a 1 2 3 >out 2>err
is "$? $(cat err)$(grep -E ' (anonymous|file), with data' out | tr -s ' ')" \
    "1 $(printf ' %s, with data\n' '1.0K 2.0K 3.0K anonymous' '0B 0B 0B file' \
    '1.0K 2.0K 3.0K 10000-14000 anonymous')" "-a: growth counts pages with data"

make c 'environ=A=3\0'
for o in -p8 '-ap8'; do
	timeout 20 "$BUILD/snapdiff" $o a b c >out 2>err
	is "$? $(cat out err)" "2 snapdiff: a: no process 8" "$o: an error"
done
make c start=100
timeout 20 "$BUILD/snapdiff" -p 7 a b c >out 2>err
is "$? $(cat out err)" "2 snapdiff: a: process 7 is not the same as in c" \
    "-p: a restarted process is an error"

# wrong options
while IFS='|' read -r args want; do
	# shellcheck disable=SC2086 # several
	timeout 20 "$BUILD/snapdiff" $args >out 2>&1 </dev/null
	is "$? $(head -n 1 out | cut -d [ -f 1)" "2 $want" "snapdiff $args"
done <<'END'
-p 7x a b|snapdiff: -p 7x: the number is invalid
-p 7: a b|snapdiff: -p : the number is invalid
- -|snapdiff: standard input can be read only once
-o nothing a a|snapdiff: -o: unknown column "nothing"; the columns are HOW, ADDRESSES, SIZE, CHANGED, NEW, GONE, UNKNOWN, PERMS, MAPPING
-so perms a|snapdiff: -o: unknown column "perms"; the columns are CLASS, MAPPINGS, SIZE, WERE, WAS, CHANGED, NEW, GONE, UNKNOWN
-o how a b c|snapdiff: -l, -o, -s, -x and -p pid:pid require exactly two moments
-jo how a b|usage: snapdiff 
-sx a b|usage: snapdiff 
-sl a b|usage: snapdiff 
-jx a b|usage: snapdiff 
END

# a snapshot without descriptors
make a
make b limits=x 'fd/3=/a'
make c limits=x 'fd/3=/a' 'fd/4=/a'
make d limits=x 'fd/3=/a' 'fd/4=/a' 'fd/5=/a'
is "$("$BUILD/snapdiff" a b c | grep -c descriptors) $(
    "$BUILD/snapdiff" b c d | grep -c descriptors)" "0 2" \
    "descriptors that a snapshot does not record do not grow"

# an unreadable process does not prevent the comparison of others
make a 'environ=A=1\0'
make c 'environ=A=3\0'
"$BUILD/snapcat" -o one a a
make b 'environ=A=2\0' pages=nonsense
"$BUILD/snapcat" -o two b c
is "$(diffs one two | sed -n '1p;/environment/p'; cut -d : -f 1,2 err)" "2
  ! environment A: 3, was 1
snapdiff: process 7" "the other process is compared if one has malformed pages"
timeout 20 "$BUILD/snapdiff" -a one two one >out 2>err
is "$? $(grep -c '^! process' out) $(cut -d : -f 1,2 err)" \
    "2 1 snapdiff: process 7" "-a: the same"

# malicious snapshots
make a 'environ=A=\x1b[2J\0' 'fd/3=\x1b]0;x\x07' \
    'maps=10000-14000 rw-p 00000000 00:00 0 \x1b[31m\n'
make b 'environ=\x1bB=\x1b[2J\0' 'fd/3=\n\x1b' \
    'maps=10000-14000 rwxp 00000000 00:00 0 \x1b[32m\n' "mem=$page"
for o in -l -x -s; do
	is "$(diffs a b $o | sed -n 1p) $(
	    sed 1,2d out | LC_ALL=C tr -d '\n -~' | wc -c)" \
	    "1 0" "$o: the output has no control characters"
done
diffs a b -jl >/dev/null
try "-j: the output is JSON" python3 -c 'import json, sys
for line in sys.stdin:
    json.loads(line)' <out
make b 'pages=nonsense\n'
is "$(diffs a b)" "2
snapdiff: process 7: pages: not a list of ascending ranges" "malformed pages are an error"
make b 'pages=5000 4000\n2000 3000\n' 
is "$(diffs a b | sed -n 1p)" 2 "ranges that do not ascend are an error"
make b 'files=3 \n\n99999999999999999999 1\n3 1\n' 'fd/3=socket:[1]' \
    'file/1=local \n' 'limits=\n\nMax' 'sigaction=\n99\n-1 5\n1' \
    'status=Uid:' 'fdinfo/3=flags:\t' 'fd/4=socket:[2]'
is "$(diffs a b | sed -n 1p)" 1 "truncated files are compared"
finish 45
