#!/usr/bin/env bash
# pagestat prints the numbers of smaps and smaps_rollup, what two processes
# share, and what is touched in a window of time; it reports missing numbers.
# beside: nothing
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

pagestat=$BUILD/pagestat
head -c $((16 * $(getconf PAGESIZE))) /dev/urandom >"$tmp/pub/file"

# of PID ADDRESS COLUMN,...: print columns of a mapping, in kilobytes
of() {
	"$pagestat" -mnb -o "start,$3" "$1" | awk -v a="$2" '$1 == a {
	    for (i = 2; i <= NF; i++)
		printf "%s%s", $i / 1024, i < NF ? " " : "\n" }'
}
mapping() {
	of "$1" "$2" rss,shared,zero,guard,thp
}

same() {
	local what=$1

	shift
	try "$what" python3 "$tests/live/pagestat.py" "$@"
}

# column PID HEAD: print the number of the process, in kilobytes
column() {
	"$pagestat" -nb -o "$2" "$1" 2>/dev/null | awk '{ print $1 / 1024 }'
}

common() {
	"$pagestat" -sb "$1" "$2" | awk -v p="$1" '$1 == p { print $4 / 1024 }'
}

# a name that no other process has
cp "$targets/pages" "$tmp/pages$$"
target "$tmp/pages$$" "$tmp/pub/file" 100
few=$pid
child=$(awk '/^child/ { print $2 }' "$lines")
kill -STOP "$few"
until_true grep -q '^State:.T' "/proc/$few/status"

# Pages of each kind.
while read -r word name at want; do
	if [ "$word" = expect ]; then
		is "$(mapping "$few" "$at")" "$want" "$name"
	fi
done <"$lines"
grep -q '^expect guard' "$lines" || skip guard "no guard pages"
written=$(awk '/^huge written/ { print substr($3, 3) }' "$lines")
read=$(awk '/^huge read/ { print substr($3, 3) }' "$lines")
if grep -A 30 "^$written" "/proc/$few/smaps" |
    grep -q -m 1 'AnonHugePages: *2048'; then
	is "$(mapping "$few" "$written")" "2048 0 0 0 2048" "a huge page"
	is "$(mapping "$few" "$read")" "0 0 2048 0 0" "the huge zero page"
else
	skip "a huge page" "none is available" 2
fi
reserved=$(awk '/^huge reserved/ { print substr($3, 3) }' "$lines")
if [ -n "$reserved" ]; then
	is "$(of "$few" "$reserved" rss,pss,uss,shared,swap,huge)" \
	    "0 0 0 0 0 2048" \
	    "a page of hugetlbfs"
else
	skip "a page of hugetlbfs" "vm.nr_hugepages is 0"
fi

# All numbers, compared with those of the kernel.
same "the same as smaps and smaps_rollup" "$pagestat" "$few"
target python3 -c 'import json, sys
print("ready", flush=True)
sys.stdin.read()'
kill -STOP "$pid"
same "the same for python" -l "$pagestat" "$pid"
"$pagestat" -b "$few" "$child" >"$tmp/out"
is "$? $(awk 'NR == 2 || NR == 3 { for (i = 2; i < 8; i++) n[i] += $i }
    NR == 4 { for (i = 2; i < 8; i++) if (i != 3 && n[i] != $i) print "bad", i
	print $1, NF }' "$tmp/out")" "0 total 8" "the total of several"
is "$("$pagestat" "pages$$" "$few" | wc -l)" 4 "by name: none twice"

target "$targets/threads"
threads=("/proc/$pid/task"/*)
"$pagestat" "$pid" "${threads[@]##*/}" >"$tmp/out"
is "$? $(wc -l <"$tmp/out")" "0 2" "by its threads: none twice"
kill "$pid"	# its threads are busy

# Shared memory of two processes, compared with their page tables, and with how
# many pages the targets share.
target "$targets/pages" "$tmp/pub/file" 1100
many=$pid
other=$(awk '/^child/ { print $2 }' "$lines")
if is_root; then
	cat >"$tmp/frames.py" <<'END'
import mmap, struct, sys

def frames(pid):
    found = set()
    pagemap = open('/proc/%s/pagemap' % pid, 'rb', buffering=0)
    for line in open('/proc/%s/maps' % pid):
        start, end = (int(n, 16) for n in line.split()[0].split('-'))
        if line.endswith(('[vsyscall]\n', '[vvar]\n', '[vvar_vclock]\n')):
            continue
        if end - start > 1 << 30:
            continue
        pagemap.seek(start // mmap.PAGESIZE * 8)
        n = (end - start) // mmap.PAGESIZE
        for e, in struct.iter_unpack('<Q', pagemap.read(n * 8)):
            if e >> 63:
                found.add(e & ((1 << 55) - 1))
    return found

one, two = (frames(p) for p in sys.argv[1:])
flags = open('/proc/kpageflags', 'rb', buffering=0)
kb = 0
for f in one & two:
    flags.seek(f * 8)
    if not struct.unpack('<Q', flags.read(8))[0] >> 24 & 1:
        kb += mmap.PAGESIZE // 1024
print(kb)
END
	is "$(common "$few" "$child")" \
	    "$(python3 "$tmp/frames.py" "$few" "$child")" \
	    "shared memory of a pair: as in the page tables"
	is "$(common "$many" "$other")" \
	    "$(python3 "$tmp/frames.py" "$many" "$other")" \
	    "shared memory of another pair"
	# file pages differ: neighbors that are in memory already are mapped
	# with a page that is touched
	more=$(($(common "$many" "$other") - $(common "$few" "$child")))
	files=$(awk '/^RssFile/ && $2 > n { n = $2 } END { print n }' \
	    "/proc/$few/status" "/proc/$many/status")
	kb=$((1000 * $(getconf PAGESIZE) / 1024))
	ok $((more < kb - files || more > kb + files || files > kb - 100)) \
	    "a pair that shares 1000 pages more" || echo "$more $files" | diag
	"$pagestat" -sb "$few" "$child" "$other" >"$tmp/out"
	is "$? $(awk 'NR > 1 && NR < 5 { kb += $2; m[NR] = $3 " " $4 " " $5 }
	    $1 == "total" { print (kb == $2); kb = $2 }
	    $1 == "different" { kb -= $2 } $1 == "saved" { print (kb == $2) }
	    END { split(m[2], a); split(m[3], b); split(m[4], c)
	    print (a[1] a[2] == "." b[1]), (a[3] == c[1]), (b[3] == c[2]),
	    (a[2] - a[3] > 0) }' "$tmp/out" | tr '\n' ' ')" "0 1 1 1 1 1 1 " \
	    "a matrix of three, and its sums"
else
	skip "shared memory of a pair" "not root"
fi

# The same two in a snapshot, where pages with equal bytes are shared.
snap -o "$tmp/one.snap" "$many" "$other"
"$pagestat" -sb -M "$tmp/one.snap" >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/err") $(wc -l <"$tmp/out")" "0  6" "-M: a snapshot"
is "$(($(awk -v p="$many" '$1 == p { print $4 }' "$tmp/out") >= 4400 * 1024))" 1 \
    "-M: what they share"

# The flags of pages.
"$pagestat" -fb "$few" >"$tmp/out"
sum=$(($(column "$few" RSS) + $(column "$few" Swap)))
is "$? $(awk '/zero_page|guard|,huge,/ { not += $2 }
    NR > 1 && $3 != "total" { n += $1; kb += $2 }
    $3 == "total" { print (n == $1), (kb == $2), (kb - not) / 1024 }' "$tmp/out")" \
    "0 1 1 $sum" "flags: all pages are counted"
if is_root; then
	# before Linux 6.10 only the first page of a huge page has them
	# (stable_page_flags of fs/proc/page.c)
	least=$((15000 * 1024))
	release_from 6.10 || least=$((13000 * 1024))
	is "$(awk -v least=$least '/swapbacked/ && /anon/ && /exclusive/ {
	    n += $2 } END { print (n >= least) }' "$tmp/out")" 1 \
	    "flags: anonymous memory"
	is "$(awk '/guard/ { print $2 / 1024 }' "$tmp/out")" \
	    "$(awk '/^expect guard/ { print $7 }' "${lines_of[$few]}")" \
	    "flags: guards"
fi

# Each line as JSON.
for o in -f -s -m; do
	"$pagestat" $o -jn "$few" "$child" >"$tmp/json" 2>/dev/null
	"$pagestat" $o -nbo pid "$few" "$child" >"$tmp/out" 2>/dev/null
	is "$(python3 -c 'import json, sys
print(*(json.loads(line)["pid"] for line in sys.stdin), sep="\n")' \
	    <"$tmp/json")" "$(tr -d ' ' <"$tmp/out")" "JSON of $o"
done
is "$("$pagestat" -sj "$few" "$child" | python3 -c 'import json, sys
print(*(o["shared"][0]["size"] // 1024 for o in map(json.loads, sys.stdin)))' \
    )" "$(common "$few" "$child") $(common "$child" "$few")" \
	    "JSON: shared memory of a pair"

for o in "-o touched" "-o +zero" "-o start" "-o perms" "-mo touched"; do
	# shellcheck disable=SC2086 # several
	"$pagestat" $o "$few" >"$tmp/out" 2>"$tmp/err"
	is "$? $(cat "$tmp/out"; cut -d ' ' -f 2-4 "$tmp/err")" \
	    "2 -o: unknown column" "$o: an empty column is refused"
done

# A window of time.
kill -CONT "$few"
at=$(awk '/^window/ { print substr($3, 3) }' "${lines_of[$few]}")
touched() {
	"$pagestat" -mnb -o start,touched -w "$1" "$few" |
	    awk -v a="$at" '$1 == a { print $2 / 1024 }'
}
if [ -w "/proc/$few/clear_refs" ]; then
	is "$(touched 0.01)" 0 "a window: nothing is touched"
	touched $((TIMEFACTOR * $(busy))) >"$tmp/out" &
	waiting=$!
	# again and again: this shell does not know when the window begins
	while kill -0 "$waiting" 2>/dev/null; do
		sleep 0.1
		n=$(grep -c '^touched' "${lines_of[$few]}")
		echo t >&"${ask_fd[$few]}"
		until_true eval \
		    "[ \$(grep -c '^touched' '${lines_of[$few]}') -gt $n ]"
	done
	wait "$waiting"
	is "$(cat "$tmp/out")" $((1000 * $(getconf PAGESIZE) / 1024)) \
	    "a window: 1000 pages are touched"
	is "$("$pagestat" -w 0.01 "$few" "$child" | awk 'NR < 5 { print NF }' |
	    tr '\n' ' ')" "9 9 9 9 " "a window of two processes"
else
	skip "a window" "this kernel has no clear_refs" 3
fi
is "$(states "$few")" " 0 S " "it was not stopped"

# While it waits, a process ends, and another one gets its ID.
cat >"$tmp/nap.c" <<'END'
#include <stdlib.h>
#include <time.h>

int
nanosleep(const struct timespec *t, struct timespec *left)
{
	(void)t;
	(void)left;
	unsetenv("LD_PRELOAD");
	return system(getenv("NAP"));
}
END
cat >"$tmp/reused" <<'END'
# start times are in ticks of 10 ms
export old NAP='
	kill $old
	until ! kill -0 $old && sleep 0.1; do sleep 0.1; done 2>/dev/null
	until [ "$new" = $old ]; do
		[ -z "$new" ] || kill $new
		echo $((old - 1)) >/proc/sys/kernel/ns_last_pid
		sleep 1000 >/dev/null 2>&1 &
		new=$!
	done'
for name in "" sleep; do
	sleep 1000 &
	other=$!
	sleep 1000 &
	old=$!
	until [ "$(pidof sleep | wc -w)" -eq 2 ]; do sleep 0.1; done
	LD_PRELOAD=$2/nap.so "$1" -n -w 1 -o pid ${name:-$old $other} 2>&1 |
	    sed "s/$old/OLD/; s/ *$other/OTHER/"
	kill $other $old
	while pidof sleep; do :; done >/dev/null
done
END
if [ -n "${SANITIZED-}" ]; then
	skip "-w: another process with the ID" "no preload"
elif [ -w "/proc/$few/clear_refs" ] &&
    unshare -fp --mount-proc true 2>/dev/null; then
	cc -shared -fPIC -o "$tmp/nap.so" "$tmp/nap.c"
	is "$(timeout 100 unshare -fp --kill-child --mount-proc bash \
	    "$tmp/reused" "$pagestat" "$tmp" 2>/dev/null)" \
	    "pagestat: OLD: it ended before it was read
OTHER
OTHER" "-w: another process with the ID"
else
	skip "-w: another process with the ID" "not root"
fi

# IDs that are not of processes, and processes without memory.
message() {
	"$pagestat" "$@" >"$tmp/out" 2>"$tmp/err"
	echo "$? $(sed 's/^pagestat: //' "$tmp/err") $(wc -l <"$tmp/out")"
}
is "$(message 2147483647 "$few")" "1 2147483647: No such process 2" \
    "one that is missing; the other is shown"
is "$(message -w 0.01 2147483647 "$few")" \
    "1 2147483647: No such process 2" "the same in a window"
is "$(message -s 2147483647)" "1 2147483647: No such process 0" \
    "sharing with one that is missing"
is "$(message 99999999999)" "1 99999999999: not a process ID 0" \
    "a number that is too large"
is "$(message "no such name")" \
    '1 no process is called "no such name" 0' "no such name"
is "$(message "")" '1 empty process name 0' "an empty name"
target "$targets/zombie"
zombie=$(grep -l "^PPid:.$pid$" /proc/[0-9]*/status 2>/dev/null |
    tr -dc '0-9\n' | head -1)
is "$(message "$zombie")" \
    "1 $zombie: no user address space: it is a zombie 0" "a zombie"
target "$targets/leader"
is "$(message -m "$pid" | sed 's/[0-9]*$//') $(($(column "$pid" RSS) > 100))" \
    "0   1" "a process whose first thread has ended"
if is_root; then
	target python3 -c 'import ctypes, threading, time
memory = b"x" * (50 << 20)
threading.Thread(target=time.sleep, args=(1000,)).start()
print("ready", flush=True)
ctypes.CDLL(None).pthread_exit(None)'
	read -r rss touched < <("$pagestat" -bn -w 0.5 -o rss,touched "$pid")
	is "$((rss > 2 * touched))" 1 "-w: its first thread has ended" ||
	    echo "# $rss $touched"
else
	skip "-w: its first thread has ended" "not root"
fi
if grep -q kthreadd /proc/2/comm 2>/dev/null; then
	is "$(message 2)" \
	    "1 2: no user address space: it is a kernel thread 0" \
	    "a thread of the kernel"
else
	skip "a thread of the kernel" "process 2 is not one here"
fi
for o in "" -x "-f -s 1" "-f -m 1" "-s -w 1 1" "-f -M x" "-m -M x"; do
	# shellcheck disable=SC2086 # several words
	"$pagestat" $o >"$tmp/out" 2>"$tmp/err"
	is "$? $(grep -c usage "$tmp/err") $(wc -c <"$tmp/out")" "2 1 0" \
	    "usage: pagestat $o"
done
for o in 0 -1 x 1s nan ""; do
	is "$(message -w "$o" $$)" \
	    "2 -w: \"$o\" is not a number of seconds 0" "-w '$o'"
done
is "$(message -s -M "$tmp/none" | sed 's/ [^ ]*none/ FILE/')" \
    "1 FILE: No such file or directory 0" "no such file"

# A process exits while it is examined: full output, or a message.
bad=0
n=$(often 20)
for flag in "" -m -f; do
	for ((i = 0; i < n; i++)); do
		sleep 0.00"$((i % 10))" &
		p=$!
		# shellcheck disable=SC2086 # a flag, or none
		case $(message $flag "$p") in
		"0 "*" 0") bad=$((bad + 1)) ;;
		"0 "* | "1 $p: No such process 0" | \
		    "1 $p: no user address space"*" 0" | \
		    "1 $p: it ended before it was read 0") ;;
		*) bad=$((bad + 1)); diag <"$tmp/err" ;;
		esac
		wait "$p"
	done
done
is "$bad" 0 "processes that exit meanwhile"

# A process found by name that exits meanwhile is left out, without a message
# about its owner.  Only this run uses the name.
name=brief$$
cp "$(command -v sleep)" "$tmp/$name"
while :; do
	"$tmp/$name" 0.00"$((RANDOM % 10))"
done &
coming=$!
"$tmp/$name" 300 &
staying=$!
until_true grep -q "$name" "/proc/$staying/comm"
bad=0
for flag in "" -m -f -s; do
	for ((i = 0; i < n; i++)); do
		# shellcheck disable=SC2086 # a flag, or none
		"$pagestat" $flag "$name" >"$tmp/out" 2>"$tmp/err" &&
		    [ ! -s "$tmp/err" ] && [ "$(wc -l <"$tmp/out")" -ge 2 ] &&
		    continue
		bad=$((bad + 1))
		diag <"$tmp/err"
	done
done
kill "$coming" "$staying"
is "$bad" 0 "processes of a name come and go"

# Mappings that change all the time.
target "$targets/churn"
bad=0
for ((i = 0; i < 30; i++)); do
	case $(message "$pid") in
	"0  2") ;;
	*) bad=$((bad + 1)); diag <"$tmp/err" ;;
	esac
done
is "$bad" 0 "mappings that change meanwhile"

# Another user.
if is_root && command -v setpriv >/dev/null; then
	as_nobody
	cp "$pagestat" "$tmp/bin"
	chmod 755 "$tmp/bin/pagestat"
	chmod 666 "$tmp/pub/file"
	root=$pagestat
	pagestat=$tmp/bin/pagestat
	nobody() {
		"${as[@]}" "$pagestat" "$@" >"$tmp/out" 2>"$tmp/err"
		echo "$? $(sed 's/^pagestat: //' "$tmp/err") $(
		    wc -l <"$tmp/out")"
	}
	pss="PSS is missing: only root (CAP_SYS_ADMIN) may see\
 which processes share a page"
	target "$targets/pages" "$tmp/pub/file" 100
	his=$pid
	kid=$(awk '/^child/ { print $2 }' "$lines")
	kill -STOP "$his"
	until_true grep -q '^State:.T' "/proc/$his/status"
	same "nobody: the same but for PSS" "$pagestat" "$his" "${as[@]}"
	is "$(nobody "$his")" "0 $pss 2" "nobody: PSS is missing"
	is "$(nobody "$his" "$few")" \
	    "1 process $few belongs to root: run as root, or as that user
$pss 2" "nobody: their own and another user's"
	is "$(nobody -j "$his") $(grep -c '"pss":null' "$tmp/out")" "0 $pss 1 1" \
	    "nobody: PSS in JSON"
	is "$(nobody -s "$his" "$kid")" "1 cannot compare pages: only root\
 (CAP_SYS_ADMIN) may see which are the same 0" "nobody: sharing"
	is "$(nobody -fb "$his" | sed 's/ [0-9]*$//')" \
	    "0 most flags are missing: only root (CAP_SYS_ADMIN) may see them" "nobody: flags"
	is "$(awk '/exclusive$/ { n = $2 } END { print (n >= 15000 * 1024) }' \
	    "$tmp/out")" 1 "nobody: flags of pagemap"
	kill -CONT "$his"
	is "$(nobody -w 0.01 "$his" "$few")" \
	    "1 process $few belongs to root: run as root, or as that user
$pss 2" "nobody: a window"
	target "$targets/secret"
	is "$(nobody "$pid")" "1 process $pid is not dumpable (set-user-ID, or \
prctl(2)): run as root 0" \
	    "nobody: their own, not dumpable"
	is "$("$root" "$his" | awk 'NR == 2 { print ($3 > 0) }')" 1 \
	    "root: PSS is shown"
else
	skip "nobody" "not root"
fi
finish 77
