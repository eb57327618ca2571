#!/usr/bin/env bash
# procmap of live processes prints every mapping and the kernel's sums, and the
# same for a snapshot; it reports processes without a map.
# beside: apart
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

procmap=$BUILD/procmap

# A process with a mapping of every kind, stopped so that it does not change.
cat >"$tmp/sorts.py" <<'END'
import ctypes, mmap, os, sys, tempfile
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.prctl(41, 1, 0, 0, 0)  # PR_SET_THP_DISABLE: khugepaged makes no pages
page = 4096

def new(pages, prot=3, flags=0x22, fd=-1):
    p = libc.mmap(None, ctypes.c_size_t(pages * page), prot, flags, fd,
                  ctypes.c_long(0))
    # what lies beside it shall not be joined
    libc.mmap(None, ctypes.c_size_t(page), 4, 0x22, -1, ctypes.c_long(0))
    return p

def tell(name, p):
    print(name, '%x' % p)

def advise(name, advice):
    p = new(4)
    ok = libc.madvise(ctypes.c_void_p(p), ctypes.c_size_t(4 * page), advice)
    if ok == 0:
        tell(name, p)

advise('1/0/1', 1)
advise('1/0/2', 2)
advise('2/0/0', 10)
advise('3/0/0', 18)
p = new(2)
if libc.mlock(ctypes.c_void_p(p), ctypes.c_size_t(2 * page)) == 0:
    tell('1/1/0', p)
p = new(3, 3, 0x21)
ctypes.memset(p, 1, page)
tell('0/0/0', p)
p = new(4, 3, 0x122)
tell('rw-S-p+', p)
p = new(4, 1)
if libc.syscall(462, ctypes.c_void_p(p), ctypes.c_size_t(4 * page),
                0) == 0:
    tell('r---Ip+', p)
tell('-----p+', new(4, 0))
p = new(4)
ctypes.memset(p, 1, 3 * page)
tell('rw---p-', p)
fd = os.open(sys.argv[1], os.O_RDONLY)
p = libc.mmap(None, ctypes.c_size_t(page), 1, 1, fd, ctypes.c_long(0))
tell('r----s-', p)
print('ready', flush=True)
sys.stdin.readline()
END
file=$tmp/$'a \\ file\nof two lines'
truncate -s 4096 "$file"
target python3 "$tmp/sorts.py" "$file"
sorts=$pid
kill -STOP "$sorts"
until_true grep -q '^State:.T' "/proc/$sorts/status"

"$procmap" "$sorts" >"$tmp/all"
while read -r want at; do
	if [ "$want" = ready ]; then
		continue
	fi
	line=$(grep "^0*$at-" "$tmp/all")
	case $line in
	*" $want "*) ok 0 "a mapping that is $want" ;;
	*) ok 1 "a mapping that is $want"; echo "$line" | diag ;;
	esac
done <"$lines"
# MADV_DONTFORK, MADV_WIPEONFORK, mlock(2) and mseal(2) may be refused
for want in 2/0/0 3/0/0 1/1/0 r---Ip+; do
	grep -q "^$want " "$lines" ||
	    skip "a mapping that is $want" "not in this kernel"
done

is "$(grep -c '/a \\ file\\012of two lines$' "$tmp/all")" 1 \
    "a name with a newline is on one line"

# Every line of maps, in each style; and sums.
cat >"$tmp/same.py" <<'END'
import re, subprocess, sys
procmap, pid = sys.argv[1:]

def run(*args):
    return subprocess.run([procmap, *args, pid], capture_output=True,
                          check=True).stdout.decode().splitlines()

maps, total, size = [], 0, 0
for line in open('/proc/%s/maps' % pid):
    addr, perm, off, dev, ino, *name = line.rstrip('\n').split(None, 5)
    start, end = (int(n, 16) for n in addr.split('-'))
    maps.append((start, end, perm, int(off, 16), dev, int(ino),
                 name[0] if name else ''))
    size += (end - start) // 1024
    total += (end - start) // 1024 if perm[:3] != '---' else 0
sums, each = {}, []
for line in open('/proc/%s/smaps' % pid):
    key, *value = line.split()
    if key == 'Size:':
        each.append({})
    if key[-1] == ':' and len(value) == 2:
        sums[key] = sums.get(key, 0) + int(value[0])
        each[-1][key] = int(value[0])

lines = run('-l')
assert len(lines) == len(maps)
for line, m in zip(lines, maps):
    start, end, perm, off, dev, ino, *name = line.split(None, 6)
    got = (int(start, 16), int(end, 16), perm[:3] + perm[5], int(off, 16),
           dev, int(ino))
    assert got == m[:6], (got, m)
    if ino != '0' and m[6][:6] not in ('/dev/z', '/SYSV0'):
        assert name == [m[6]], (name, m)
for style in '-s', '-m':
    lines = run(style)
    if style == '-s':
        assert lines.pop().split() == ['total', '%dK' % total]
    assert [int(l.split()[0], 16) for l in lines] == [m[0] for m in maps]
lines = run('-a')
assert lines.pop().split() == ['total', '%dk' % total]
got = [(int(l[:16], 16), int(l[17:33], 16) + 1) for l in lines[1:]]
assert got == [m[:2] for m in maps]
lines = run('-x')
number = lambda s: 0 if s == '-' else int(s)
got = [number(n) for n in lines.pop().split()[2:]]
kinds = [sums[a + b] for a in ('Shared_', 'Private_')
         for b in ('Clean:', 'Dirty:')]
# who else has a page may change between the one and the other
assert got[:2] + [got[2] + got[3]] == [size, sums['Rss:'], sum(kinds)], got
for line, e in zip(lines[1:], each):
    assert [number(n) for n in line.split()[1:3]] == [e['Size:'], e['Rss:']]
text = run('-av')
at = 0
for line in text[1:-1]:	# no address is left out
    start, end = (int(n, 16) for n in line.split()[0].split('-'))
    assert start == at, (line, at)
    at = end + 1
END
try "every mapping, in every style; sums are those of smaps" \
    python3 "$tmp/same.py" "$procmap" "$sorts"
try "the same for this shell" python3 "$tmp/same.py" "$procmap" $$

# procmap prints the same for a snapshot of it, and for a core where it can.
snap -o "$tmp/one.snap" "$sorts"
for o in -a -av -s -l -m -mv -d -dv -x -r -A "-D 3"; do
	# the number of processes that share a page may change
	columns=1-
	if [ "$o" = -x ]; then
		columns=1-32,49-
	fi
	# shellcheck disable=SC2086 # several words
	"$procmap" $o "$sorts" | cut -c "$columns" >"$tmp/live"
	# shellcheck disable=SC2086
	"$procmap" $o -M "$tmp/one.snap" "$sorts" | cut -c "$columns" \
	    >"$tmp/saved"
	try "$o: the same for a snapshot" diff "$tmp/live" "$tmp/saved"
done
"$BUILD/snapcore" -p "$sorts" -o "$tmp/core" "$tmp/one.snap" 2>/dev/null
"$procmap" -s -M "$tmp/core" >"$tmp/saved"
is "$? $(grep -c /usr/ "$tmp/saved")" "0 $("$procmap" -s "$sorts" |
    grep -c /usr/)" "an ELF core"

# Pictures.
try "a picture" "$procmap" -g "$tmp/x.svg" "$sorts" $$
is "$(grep -c '<g><title>' "$tmp/x.svg")" \
    "$(cat /proc/"$sorts"/maps /proc/$$/maps | wc -l)" \
    "a picture: a strip for each mapping"
target "$targets/manymaps"
try "a picture of 500 mappings" "$procmap" -g "$tmp/x.svg" "$pid"
is "$(($(stat -c %s "$tmp/x.svg") < 1000000))" 1 "it is not large"

# The default is the parent; -P is procmap itself; one of several is missing.
is "$("$procmap" -s | sed 's/ .*//;/^$/d')" "$("$procmap" -s $$ |
    sed 's/ .*//;/^$/d')" "the default is the parent"
is "$("$procmap" -P -s | grep -c /procmap$)" \
    "$("$procmap" -P | grep -c /procmap$)" "-P: itself"
"$procmap" -P | grep -q /procmap$
is "${PIPESTATUS[1]}" 0 "-P: itself, by name"
"$procmap" -s -p $$ 2147483647 "$sorts" >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/err") $(grep process "$tmp/out" | tr '\n' ' ')" \
    "1 procmap: 2147483647: No such process process $$: process $sorts: " \
    "several: headings, and one that is missing"

# Processes without a map.
target "$targets/zombie"
zombie=$(awk '/^child/ { print $2 }' "$lines")
[ -n "$zombie" ] || zombie=$(grep -l "^PPid:.$pid$" /proc/[0-9]*/status |
    tr -dc '0-9\n' | head -1)
"$procmap" "$zombie" >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" "1 procmap: $zombie: no user address space: it is a zombie" \
    "a zombie"
target "$targets/leader"
"$procmap" -s "$pid" >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/err")$(grep -c leader "$tmp/out" | sed 's/[1-9].*/some/')" \
    "0 some" "a process whose first thread has ended"
if grep -q kthreadd /proc/2/comm 2>/dev/null; then
	"$procmap" 2 >"$tmp/out" 2>"$tmp/err"
	is "$? $(cat "$tmp/err")" "1 procmap: 2: no user address space: it is a kernel thread" \
	    "a thread of the kernel"
else
	skip "a thread of the kernel" "process 2 is not one here"
fi

# A process exits while it is examined: full output, or a message.
bad=0
n=$(often 40)
for ((i = 0; i < n; i++)); do
	sleep 0.00"$((i % 10))" &
	p=$!
	"$procmap" -a "$p" >"$tmp/out" 2>"$tmp/err"
	case "$? $(tail -1 "$tmp/out" | cut -c 1-6)$(cat "$tmp/err")" in
	"0  total" | "1 procmap: $p: No such process" | \
	    "1 procmap: $p: no user address space"*) ;;
	"0  total"*changed*) ;;
	*) bad=$((bad + 1)); diag <"$tmp/err" ;;
	esac
	wait "$p"
done
is "$bad" 0 "processes that exit meanwhile"

# Mappings that change all the time are printed in ascending order, once.
target "$targets/churn"
bad=0
n=$(often 20)
for ((i = 0; i < n; i++)); do
	"$procmap" -s "$pid" 2>/dev/null | awk '/^[0-9A-F]/ { print $1 }' \
	    >"$tmp/out"
	sort -c -u "$tmp/out" || bad=$((bad + 1))
done
is "$bad" 0 "mappings that change meanwhile: ascending"

# Another user.
if is_root && command -v setpriv >/dev/null; then
	as_nobody
	cp "$procmap" "$tmp/bin"
	chmod 755 "$tmp/bin/procmap"
	nobody() {
		"${as[@]}" "$tmp/bin/procmap" "$@" >"$tmp/out" 2>"$tmp/err"
		echo "$? $(cat "$tmp/err") $(wc -l <"$tmp/out")"
	}
	is "$(nobody "$sorts")" \
	    "1 procmap: process $sorts belongs to root: run as root, or as \
that user 0" \
	    "nobody: a process of another user"
	is "$(nobody 0)" "1 procmap: kernel map is restricted 0" \
	    "nobody: the kernel"
	target "$targets/anon"
	is "$(nobody -s "$pid" "$sorts" | sed 's/ [0-9]*$//')" \
	    "1 procmap: process $sorts belongs to root: run as root, or as \
that user" \
	    "nobody: their own and another user's"
	is "$(head -1 "$tmp/out") $(grep -c ' total' "$tmp/out") $(
	    tail -1 "$tmp/out")" "process $pid: 1 process $sorts:" \
	    "nobody: their own is shown"
	is "$(cd "$tmp/pub" && nobody -g p.svg "$pid")" "0  0" \
	    "nobody: a picture"
	target "$targets/secret"
	is "$(nobody "$pid")" "1 procmap: process $pid is not dumpable (set-user-ID, or \
prctl(2)): run as root 0" \
	    "nobody: their own, not dumpable"
	"$tmp/bin/procmap" -s 0 >"$tmp/out" 2>"$tmp/err"
	case "$? $(cat "$tmp/err")" in
	"0 ") is "$("$tmp/bin/procmap" -g - 0 | sed -n \
	    's/.*<text class="key"[^>]*>\([a-z ]*\) .*/\1/p')" \
	    "not captured" "the kernel: nothing is known of its pages"
		is "$("$tmp/bin/procmap" -dm -D 3 0 | grep -oE \
		    'p_vmspace|kernel_map|N?COW NN?C 0' |
		    sort -u | tr '\n' ' ')" "NCOW NNC 0 kernel_map " \
		    "the kernel: its map" ;;
	"1 procmap: kernel map is restricted: "*)
		ok 0 "the kernel"
		skip "the kernel: its map" "it is restricted" ;;
	*) ok 1 "the kernel" ;;
	esac
else
	skip "nobody" "not root" 8
fi
is "$("$BUILD/procmap" -j "$sorts" | python3 -c 'import json, sys
for o in map(json.loads, sys.stdin):
    print("%s-%s" % (o["start"].zfill(8), o["end"].zfill(8)), o["perms"])')" \
    "$(cut -d' ' -f 1,2 "/proc/$sorts/maps")" "-j: as in maps"
mkfifo "$tmp/fifo"
exec 4<>"$tmp/fifo" 5>"$tmp/fifo" 4<&-	# 5 is a pipe without a reader
for o in "$sorts" "$tmp/one.snap"; do
	env --default-signal=PIPE "$BUILD/procmap" "$o" >&5 2>"$tmp/err"
	is "$? $(cat "$tmp/err")" '141 ' "a reader that goes away: SIGPIPE"
done
exec 5>&-
kill -CONT "$sorts"
finish 51
