#!/usr/bin/env bash
# The installed Python module, and the examples in snap-python(3) on real
# processes.
# beside: others unsanitized
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$tests/.." || exit 1

try "make install succeeds" env -u MAKEFLAGS make -s install O="$BUILD" \
    PREFIX="$tmp" PYTHONDIR="$tmp/python"
for n in list objects holders moments; do
	sed -n "/^# $n.py/,/^\.Ed/{/^\.Ed/!p;}" lib/snap-python.3 |
	    sed 's/\\e/\\/g' >"$tmp/$n.py"
done
export LD_LIBRARY_PATH=$tmp/lib PYTHONPATH=$tmp/python

target "$targets/jobs"
jobs=$pid
"$BUILD/snap" -z -o "$tmp/jobs.snap" "$jobs"
is "$(python3 "$tmp/list.py" "$tmp/jobs.snap" | sed 's/^0x[0-9a-f]*//
    s/ 0x.*//')" " index-1
 print-2
 mail-3
back to" "the example walks the list of a hung process"
is "$(python3 "$tmp/holders.py" "$tmp/jobs.snap" print-2 |
    awk '/pointer/ { print $4 }; !/pointer/ { print $1, $2; exit }' |
    head -n 2)" "$jobs jobs" "the example finds a string"
is "$(python3 "$tmp/holders.py" "$tmp/jobs.snap" print-2 |
    grep -c "pointer at 0x.*/jobs$")" 1 "the example finds its pointer"

"$BUILD/snap" -i 0.1 -N 3 -o "$tmp/jobs.series" "$jobs"
is "$(python3 "$tmp/moments.py" "$tmp/jobs.series" |
    awk '$5 > 0 { print $1, $3, $4 }')" "1 $jobs jobs
2 $jobs jobs
3 $jobs jobs" "the example prints the moments of a series"
cat >"$tmp/series.py" <<'END'
import sys
import time

import snap

path, plain, pid = sys.argv[1:]
s = snap.open(path)
assert s.moment == 3 and [m.moment for m in s.moments] == [1, 2, 3]
times = [m.time for m in s.moments]
assert times == sorted(times) and s.time == times[2]
assert snap.open(path, 1).moment == snap.open(path, 'first').moment == 1
assert snap.open(path, '2').moment == 2 and snap.open(path, 'last').moment == 3
at = time.strftime('%H:%M:%S', time.localtime(times[0]))
assert snap.open(path, at).time == times[0]
p = s.moments[0].task(int(pid))
assert p.snapshot.moment == 1 and len(p.read(p.registers['sp'], 8)) == 8
one = snap.open(plain)
assert one.moment is None and one.moments == []
for which in 1, '12:00', 'last':
    assert snap.open(plain, which).moment is None
middle = s.moments[1]
middle.moments[0].close()
assert middle.processes
s.close()
try:
    print(middle.processes)
except ValueError as error:
    print(error)
for file, moment in (path, 4), (path, 0), (plain, 2), (plain, 'noon'):
    try:
        print(snap.open(file, moment))
    except snap.Error as error:
        print(str(error).replace(path, 'SERIES').replace(plain, 'PLAIN'))
END
is "$(python3 "$tmp/series.py" "$tmp/jobs.series" "$tmp/jobs.snap" "$jobs" \
    2>&1)" 'the snapshot is closed
SERIES: no moment "4": the moments are 1 to 3
SERIES: no moment "0": the moments are 1 to 3
PLAIN: no moment "2": the moments are 1 to 1
PLAIN: no moment "noon": the moments are 1 to 1' "moments are opened"

python3 -c 'import time
class Order:
    pass
orders = [Order() for _ in range(1234)]
print("ready", flush=True)
time.sleep(1000)' >"$tmp/ready" &
until_true grep -q ready "$tmp/ready"
"$BUILD/snap" -o "$tmp/python.snap" $!
is "$(python3 "$tmp/objects.py" "$tmp/python.snap" | grep Order)" \
    "1234 Order" "the example counts the objects of CPython by type"

"$BUILD/snapcore" -o "$tmp/jobs.core" "$tmp/jobs.snap"
cat >"$tmp/all.py" <<'END'
import sys

import snap

path, core, pid = sys.argv[1:]
s = snap.open(path)
p, = s.processes
assert p == s.task(int(pid)) == p.process == p.threads[0]
assert (p.name, p.state) == ('jobs', 'S') and s.time and not s.header[99:]
maps = open(f'/proc/{pid}/maps').read()
assert p.records['maps'].decode() == maps and 'none such' not in p.records
assert len(p.records) == len(set(p.records)) > 20
assert [f'{m.start:x}-{m.end:x} {m.perms} {m.offset:08x}' for m in
        p.mappings] == [' '.join(line.split()[:3])
                        for line in maps.splitlines()]
r = p.registers
assert 'r-xp' == p.mapping(r['pc']).perms and r['sp'] == r.get('rsp', r['sp'])
for address, size in p.memory:
    assert p.mapping(address)
    assert len(p.read(address, size)) == size
end = p.mapping(r['sp']).end
assert p.readinto(end - 5, bytearray(8)) == 5
for n in 5, 8:
    try:
        p.read(end + 5 - n, n)
        assert False
    except snap.Error as e:
        assert 'not in the snapshot' in str(e)
a = p.symbol('jobs', '/jobs')
assert p.read(end - 8192, 8192)[-8:] == p.word(end - 8).to_bytes(8, 'little')
assert len(p.build_ids[p.mappings[0].name]) == 40
for symbol in ('none such',), ('jobs', 'libc.so.6'):
    try:
        p.symbol(*symbol)
        assert False
    except KeyError:
        pass
with snap.open(core) as c:
    assert c.processes[0].registers == r
    assert c.processes[0].string(p.word(p.word(a) + 8)) == 'index-1'
for call in (lambda: p.read(p.mappings[0].start + (1 << 64), 1),
             lambda: p.read(-4096, 1), lambda: s.task(p.id + (1 << 64)),
             lambda: p.records['maps\0'], lambda: snap.open(path + '\0x')):
    try:
        call()
        assert False
    except (KeyError, ValueError):
        pass
names = iter(p.records)
next(names)
s.close()
for call in (lambda: p.name, lambda: next(names)):
    try:
        call()
        assert False
    except ValueError:
        pass
try:
    snap.open('/none')
except snap.Error as e:
    print(e)
END
is "$(python3 "$tmp/all.py" "$tmp/jobs.snap" "$tmp/jobs.core" "$jobs" 2>&1)" \
    "/none: No such file or directory" "all attributes and methods work"
cat >"$tmp/damaged.py" <<'END'
import struct
import sys

import snap


def symbols(names=b'', at=(), load=1, table=64, link=1):
    """Print the symbols of a file whose names begin at these offsets."""
    text = b''.join(struct.pack('<IBBHQQ', n, 2, 0, 1, 16, 0) for n in at)
    head = struct.pack('<16sHHIQQQIHHHHHH', b'\x7fELF\2\1\1', 3, 62, 1, 0,
                       192, table, 0, 64, 56, 1, 64, 2, 0)
    parts = [struct.pack('<IIQQQQIIQQ', 0, kind, 0, 0, off, n, link, 0, 0, 0)
             for kind, off, n in ((2, 248, len(text)),
                                  (3, 248 + len(text), len(names)))]
    segment = struct.pack('<IIQQQQQQ', load, 5, 0, 8, 0, 0, 0, 0)
    with open(sys.argv[1], 'wb') as f:
        f.write(head + b''.join(parts) + segment + text + names)
    found = snap._symbols(sys.argv[1], '')
    return len(found), sorted(found.items())[:2]


print(symbols(b'a\0b\0no end', (0, 2, 4, 99)))
print(symbols(b'x' * 5000 + b'y\0', (0, 5000)))
print(symbols(b'a\0', (0,), load=4), symbols(b'a\0', (0,), link=2),
      symbols(b'a\0', (0,), table=1 << 63))
print(symbols(b'x' * 4095 + b'\0', [0] * 65553 + [4094])[0])
END
is "$(python3 "$tmp/damaged.py" "$tmp/elf" 2>&1)" "(2, [('a', 8), ('b', 8)])
(1, [('y', 8)])
(0, []) (0, []) (0, [])
1" "symbols of damaged files are left out"
python3 "$tests/snap6/snapasm.py" >"$tmp/maps.snap" <<'END'
"process snapshot\n"
record 10 proc
data {
"linux amd64 1\n"
"maps\n"
data "2000-1000\n"
}
END
is "$(python3 -c 'import sys, snap
p, = snap.open(sys.argv[1]).processes
try:
    print(p.mappings)
except snap.Error as e:
    print(e)
print(list(p.records))' "$tmp/maps.snap" 2>&1)" \
    "maps: cannot parse \"2000-1000\"
['maps']" "a malformed list of mappings raises an exception"
# the second page, with the end of a string, is left out
python3 -c 'import ctypes, mmap, time
n = mmap.PAGESIZE
m = mmap.mmap(-1, 2 * n, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
m[n - 6:n + 21] = b"/var/lib/database/file.conf"
a = ctypes.addressof(ctypes.c_char.from_buffer(m))
print(f"ready {a + n:#x} {a + n:x}-{a + 2 * n:x}", flush=True)
time.sleep(1000)' >"$tmp/ready2" &
until_true grep -q ready "$tmp/ready2"
read -r _ at range <"$tmp/ready2"
"$BUILD/snap" -x "$range" -o "$tmp/part.snap" $! 2>/dev/null
is "$(python3 -c 'import sys, snap
p, = snap.open(sys.argv[1]).processes
at = int(sys.argv[2], 16)
print(p.string(at - 6, 6))
try:
    print(p.string(at - 6))
except snap.Error as e:
    print("not in" in str(e) or e)' "$tmp/part.snap" "$at" 2>&1)" "/var/l
True" "a string whose end is missing raises an exception"
for python in python3 /usr/bin/python3 none; do
	! "$python" -c 'import numpy' 2>/dev/null || break
done
if [ "$python" = none ]; then
	skip "NumPy arrays" "no NumPy"
else
	is "$("$python" -c 'import sys, snap
p = snap.open(sys.argv[1]).processes[0]
a = p.symbol("jobs")
print(p.array(a, 1, "u8")[0] == p.word(a))
p.array(p.mapping(p.registers["sp"]).end - 8, 2, "u8")' "$tmp/jobs.snap" 2>&1 |
    sed -n '1p;$s/.*address.*not/not/p')" "True
not in the snapshot" "NumPy arrays have the memory of the process"
fi
finish 12
