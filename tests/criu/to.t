#!/usr/bin/env bash
# snap --to moves a process in one transaction: a counter that writes a file
# counts each number exactly once, wherever the connection is cut, whichever
# process is killed, and whatever is missing on the far side.  The far side is a
# pid namespace.  CUTS=500 cuts more often, at places that TEST_SEED chooses.
# beside: others long unsanitized
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

PATH=${criu%/*}:$PATH
RANDOM=${TEST_SEED:-$$}
unshare -pf --mount-proc --kill-child sh -c 'trap : TERM
while :; do sleep 1000; done' &
disown $!
until_true pgrep -P $! >/dev/null
init=$(pgrep -P $!)
over=(nsenter -t "$init" -p -m)
mkdir "$tmp/there" "$tmp/hidden"
export TMPDIR=$tmp/there
far="${over[*]} $BUILD/snapload --receive"

# begin: start a counter here, and end all others
begin() {
	pkill -KILL -f "$here/counter.py"
	until_true nobody
	start "$here/counter.py" 1000 5
	first=$pid
}
nobody() {
	! pgrep -f "$here/counter.py" >/dev/null
}
# the process IDs of the far side differ, as seen from here
there() {
	pgrep -f "$here/counter.py" | grep -vx "$first"
}
here() {
	pgrep -f "$here/counter.py" | grep -x "$first"
}
# to COMMAND: set $ended to the exit status, and $said to the messages
to() {
	timeout 60 "$BUILD/snap" --to "$1" "$first" 2>"$tmp/err" >/dev/null
	ended=$?
	said=$(apart_from_criu | grep -v "^snapload: " |
	    sed "s,${log:-/},LOG,;s/ [0-9][0-9]*/ N/g")
}
# undone WHAT: a move that failed has left nothing, and the counter goes on here
undone() {
	is "$(here) $(there) $(ls "$tmp/there")" "$first  " \
	    "$1: it is only here"
	counts_on "$1" "$(lines)"
}

# snap gives a program that writes on ten seconds to end, while other moves run
cp "$here/counter.py" "$tmp/writes.py"
start "$tmp/writes.py" 1000 5
steady=$pid
steadylog=$log
timeout 60 "$BUILD/snap" --to 'while echo y; do sleep 0.1; done 2>/dev/null' \
    "$steady" 2>"$tmp/writes.err" >/dev/null &
writes=$!

begin
to "$far"
is "$ended $said" '0 ' 'moved'
until_true reaped "$first"
is "$(here) $(there | wc -l) $(ls "$tmp/there")" ' 1 ' 'moved: it is only there'
counts_on 'moved' "$(lines)"

begin
to "env --ignore-signal=SIGCHLD $far"
is "$ended $said $(here) $(there | wc -l)" '0   1' \
    'moved: SIGCHLD is ignored there'

begin
to "$BUILD/snapload --receive"
is "$ended $said" "1 snap: far side: the process ID N is in use by \
$(cat "/proc/$first/comm")" 'the process ID is in use'
undone 'the process ID is in use'

# a zombie there has the process ID
cat >"$tmp/zombie.py" <<'END'
import os, sys, time
want, child = int(sys.argv[1]), 0
while child != want:
    if child:
        os.waitpid(child, 0)
    with open("/proc/sys/kernel/ns_last_pid", "w") as last:
        last.write(str(want - 1))
    child = os.fork()
    if not child:
        os._exit(0)
os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
with open("/proc/self/comm") as comm, open(sys.argv[2], "w") as name:
    name.write(comm.read())
time.sleep(1000)
END
"${over[@]}" python3 "$tmp/zombie.py" "$first" "$tmp/zombie" &
disown $!
until_true test -s "$tmp/zombie"
name=$(cat "$tmp/zombie")
to "$far"
is "$ended $said" "1 snap: far side: the process ID N is in use by $name, a \
zombie: its parent, process N ($name), has not waited for it" \
    'a zombie has the process ID'
undone 'a zombie has the process ID'
pkill -KILL -f "$tmp/zombie.py"
to "PATH=/nonexistent ${over[0]} ${over[*]:1} $BUILD/snapload --receive"
is "$ended" 1 'no such command'
undone 'no such command'
to "${over[*]} env PATH=/nonexistent $BUILD/snapload --receive"
is "$ended $said" '1 snap: far side: criu(8) is not installed, or does not run' \
    'no criu'
undone 'no criu'
to 'echo hello; cat >/dev/null'
is "$ended $said" '1 snap: --to: expected an answer of "snapload --receive", received "hello"' \
    'another program'
undone 'another program'
to "${over[*]} unshare -m sh -c 'mount --bind $tmp/hidden $(dirname "$log") &&
    TMPDIR=/tmp exec $BUILD/snapload --receive'"
is "$ended $said" '1 snap: far side: LOG: No such file or directory' \
    'no such file'
undone 'no such file'
to "${over[*]} unshare -m sh -c 'mount -t tmpfs -o size=1m none $tmp/hidden &&
    TMPDIR=$tmp/hidden exec $BUILD/snapload --receive'"
is "$ended ${said##*: }" '1 the images need N MiB, and N MiB are free' \
    'no space'
undone 'no space'
to "unshare -pf --mount-proc $BUILD/snapload --receive"
is "$ended ${said##*:}" '1  snapload is the init of a PID namespace, and the processes would end with it' 'an init'
undone 'an init'
wait "$writes"
is "$? $(sed "$from_criu;s/ [0-9][0-9]*/ N/g" "$tmp/writes.err")" '1 snap: --to: expected an answer of "snapload --receive", received "y"' \
    'a program that writes on'
is "$(pgrep -f "$tmp/writes.py")" "$steady" 'a program that writes on: it is only here'
log=$steadylog
counts_on 'a program that writes on' "$(lines)"
kill -KILL "$steady"
# when all is restored, the process here gets a signal
for sig in TERM KILL; do
	begin
	to "$far | while read -r line; do
	    [ \"\$line\" != restored ] || kill -$sig $first
	    echo \"\$line\"
	done"
	until_true reaped "$first"
	is "$ended $said $(there) $(ls "$tmp/there")" "1 snap: process N \
received signal N during the move  " "SIG$sig in the stop: the process gets it"
done
begin
sleep 1000 &
timeout 60 "$BUILD/snap" --to "tee $tmp/sent | $far" "$first" $! 2>"$tmp/err"
is "$? $(cat "$tmp/err") $(head -c 1 "$tmp/sent")" '1 snap: nothing written, no '\
'process killed: --to moves only one process tree at a time ' \
    'two trees: nothing is sent'
kill $!
"$BUILD/snap" --to cat -d "$first" >/dev/null 2>&1
is $? 2 '--to with -d is refused'
"$BUILD/snap" --to cat -o "$tmp/x" "$first" >/dev/null 2>&1
is $? 2 '--to with -o is refused'
"$BUILD/snapload" --receive </dev/null 2>/dev/null | grep -v alive >"$tmp/out"
is "${PIPESTATUS[0]} $(cut -c1-35 "$tmp/out")" \
    '1 undone far side: standard input: ex' \
    '--receive without snap fails'

# standard output and error are pipes that lead out of the snapshot
cat >"$tmp/piped.py" <<'END'
import os, sys, time
os.setsid()
os.chdir('/')
os.closerange(3, 1024)
log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
for n in range(1, 1000000):
    os.write(n % 2 + 1, b'%d\n' % n)
    os.write(log, b'piped %d 0\n' % n)
    time.sleep(0.01)
END
log=$tmp/piped
python3 "$tmp/piped.py" "$log" </dev/null 2>&1 | cat >/dev/null &
disown $!
until_true longer 10
first=$(pgrep -fx "python3 $tmp/piped.py $log")
to "$far"
is "$ended ${said##*$'\n'} $(ls "$tmp/there")" "1 snap: far side: standard \
streams lead out of the snapshot, and there are none here (snapload \
--stdio-null replaces pipes by /dev/null) " 'standard streams: refused'
counts_on 'standard streams' "$(lines)"
to "$far --stdio-null"
is "$ended" 0 '--stdio-null: moved'
until_true reaped "$first"
counts_on '--stdio-null' "$(lines)"
pid=$(pgrep -fx "python3 $tmp/piped.py $log")
is "$(readlink "/proc/$pid/fd/1" "/proc/$pid/fd/2" | xargs)" \
    '/dev/null /dev/null' '--stdio-null: /dev/null'
kill -KILL "$pid"
begin
# a child that snapload inherits
# shellcheck disable=SC2016 # for sh
sh -c 'sleep 1000 & echo $! >"$1/sleeper"; exec "$2" --receive' sh "$tmp" \
    "$BUILD/snapload" </dev/null >/dev/null 2>&1
sleeper=$(cat "$tmp/sleeper")
is "$(ps -o args= -p "$sleeper")" 'sleep 1000' \
    '--receive kills only what criu left behind'
kill "$sleeper"

# the directory of another user
mkdir -m 1777 "$tmp/sticky"
setpriv --reuid 65534 --clear-groups mkdir "$tmp/sticky/dir"
"$BUILD/snapload" --receive -D "$tmp/sticky/dir/" </dev/null 2>"$tmp/err" |
    grep -v alive >"$tmp/out"
is "$(sed 's/.*: created/created/' "$tmp/out") $(ls "$tmp/sticky/dir")" \
    'created by another user in a directory that everybody can write to; not written to ' \
    '--receive refuses a directory of another user'
# the directory is replaced by a link while snapload waits
mkdir -p "$tmp/victim/early"
touch "$tmp/victim/file" "$tmp/victim/early/file"
{
	until_true test -d "$tmp/img/early"
	mv "$tmp/img" "$tmp/away"
	ln -s "$tmp/victim" "$tmp/img"
} | "$BUILD/snapload" --receive -D "$tmp/img/" >"$tmp/out" 2>&1
is "$(cd "$tmp" && find away victim | sort | tr '\n' ' ')" \
    'away victim victim/early victim/early/file victim/file ' \
    '--receive clears only its own directory'

# quiet: no process of the move runs, and all clones have ended.  A clone stays
# a zombie if the guard, whose command line is that of snap, was killed as well.
ours="criu (restore|lazy-pages)|^$BUILD/snapload --receive"
quiet() {
	! pgrep -f "$ours" >/dev/null &&
	    ! pgrep -r D,R,S,T,t -P "$first" >/dev/null
}
# settled: either exactly one process counts; or the counter is stopped here,
# and snap printed how to resume it.  Print what is wrong; set $how.
settled() {
	local now n

	now=$(here)
	if [ -n "$now" ] && [[ $(ps -o stat= -p "$now") == T* ]]; then
		# a snap that was killed prints nothing
		[ "$ended" -gt 128 ] ||
		    grep -qE "resume them here[^:]*: kill -CONT $first" \
		        "$tmp/err" || echo 'no message'
		[ "$ended" -ne 0 ] || echo 'exit 0'
		# killing criu may leave processes there that do not run: they
		# wait in a futex
		n=$(lines)
		until_true quiet
		how=stopped
		# some lines may be there twice
		if grep -q 'although they repeat' "$tmp/err"; then
			[ -z "$(there)" ] || echo 'runs there'
			begin
			return
		fi
		until_true runs_or_waits "$n" "$(there | head -n 1)"
		if [ "$(lines)" -gt "$n" ]; then
			kill -KILL "$now"
		else
			there | xargs -r kill -KILL
			kill -CONT "$now"
		fi
	elif [ -n "$now" ]; then
		how=here
		[ "$ended" -ne 0 ] || echo 'exit 0'
		until_true nobody_there || echo twice
	else
		how=there
		[ "$ended" -eq 0 ] || [ "$ended" -gt 128 ] ||
		    echo "exit $ended"
		[ -n "$(there)" ] || echo lost
	fi
	until_true longer "$(($(lines) + 2))" || echo 'stands still'
	awk '$2 != NR || $3 != 0 { exit 1 }' "$log" || echo 'lost count'
}
nobody_there() {
	[ -z "$(there)" ]
}
# runs_or_waits N PID: the log has more than N lines, or PID will write none
runs_or_waits() {
	longer "$1" || [ -z "$2" ] || ! [ -d "/proc/$2" ] ||
	    grep -qE '^(202|98) ' "/proc/$2/syscall"	# futex
}
# judged WHAT: check that the move is settled; if not, write why to $tmp/bad and
# begin a new counter
judged() {
	settled >"$tmp/settled"
	[ -s "$tmp/settled" ] || return 0
	echo "$1: $how: $(cat "$tmp/settled")" >>"$tmp/bad"
	cat "$tmp/err" >>"$tmp/bad"
	begin >>"$tmp/bad"
	return 1
}
# cut_at N ...: cut each move after N bytes, or before answer -N
cut_at() {
	local n bad=''

	for n; do
		[ -n "$(here)" ] || begin
		to "$here/cut.py $n $far"
		judged "cut $n" || bad=1
		outcomes="$outcomes $how"
	done
	[ -z "$bad" ]
}
: >"$tmp/bad"
outcomes=
begin
cut_at -1 -2 -3 -4 -5
ok $? 'each lost answer: the move is settled' || diag <"$tmp/bad"
is "$outcomes" ' here here stopped stopped there' 'where the counter is then'
places=(0 1 4 5 6)
# the size of the stream of a complete move
begin
to "tee $tmp/stream | $far"
size=$(stat -c %s "$tmp/stream")
places+=($((size - 11)) $((size - 10)) $((size - 6)) $((size - 5)))
places+=($((size - 1)))
for ((i = 0; i < ${CUTS:-10}; i++)); do
	places+=($(((RANDOM << 15 | RANDOM) % size)))
done
begin
cut_at "${places[@]}"
ok $? "cut at ${#places[@]} places" || diag <"$tmp/bad"

# the answer "resumed" is lost; a child was stopped before
setsid python3 -c 'import os, signal, time
os.closerange(3, 1024)
if not os.fork():
    os.kill(os.getpid(), signal.SIGSTOP)
time.sleep(1000)' </dev/null >/dev/null 2>&1 &
disown $!
first=$!
stopped_child() {
	child=$(pgrep -r T -P "$first")
}
until_true stopped_child
to "$here/cut.py -4 $far"
sed -n 's/.*: kill /kill /p' "$tmp/err" >"$tmp/kill"
is "$(cat "$tmp/kill")" "kill -KILL $first $child
kill -CONT $first" 'a child was stopped before: it is not resumed'
kill -KILL "$first" "$child"
"${over[@]}" pkill -KILL -f os.closerange

# killed PATTERN SECONDS ...: kill the processes that match, SECONDS after each
# move began; with which=-o only the oldest of them
killed() {
	local n bad='' pattern=$1

	: >"$tmp/bad"
	shift
	for n; do
		[ -n "$(here)" ] || begin
		(sleep "$n" && pkill -KILL ${which:+"$which"} -f "$pattern") &
		to "$far"
		wait $!
		until_true quiet || bad=$(ps -o pid,ppid,stat,wchan:20,args \
		    -p "$(pgrep -d, -f "$ours")" | tee -a "$tmp/bad")
		judged "killed after $n s" || bad=1
	done
	[ -z "$bad" ]
}
times=(0.01 0.05 0.1 0.15 0.2 0.25 0.3 0.4)
# not its child, which makes criu lazy-pages end if snapload is killed
which=-o killed "^$BUILD/snapload --receive" "${times[@]}"
ok $? 'snapload is killed' || diag <"$tmp/bad"
killed "^$BUILD/snap --to" "${times[@]}"
ok $? 'snap is killed' || diag <"$tmp/bad"
killed 'criu restore' "${times[@]}"
ok $? 'criu is killed' || diag <"$tmp/bad"
if criu check --feature uffd-noncoop >/dev/null 2>&1; then
	killed 'criu lazy-pages' "${times[@]}"
	ok $? 'criu lazy-pages is killed' || diag <"$tmp/bad"

	# snapload is killed before criu restore: nothing connects to lazy-pages
	mkdir "$tmp/bin"
	cat >"$tmp/bin/criu" <<END
#!/bin/sh
[ "\$1" != restore ] || { kill -KILL \$PPID; exit 1; }
exec $criu "\$@"
END
	chmod +x "$tmp/bin/criu"
	begin
	to "${over[*]} env PATH=$tmp/bin:$PATH $BUILD/snapload --receive"
	until_true quiet
	ok $? 'snapload is killed before criu restore: nothing runs there'
	judged 'killed before criu restore'
	ok $? 'killed before criu restore: settled' || diag <"$tmp/bad"

	# the same before criu lazy-pages has created its socket
	cat >"$tmp/bin/criu" <<END
#!/bin/sh
[ "\$1" != lazy-pages ] || { kill -KILL \$PPID; sleep 0.3; }
exec $criu "\$@"
END
	begin
	to "${over[*]} env PATH=$tmp/bin:$PATH $BUILD/snapload --receive"
	until_true quiet
	ok $? 'snapload is killed before criu lazy-pages: nothing runs there'
	judged 'killed before criu lazy-pages'
	ok $? 'killed before criu lazy-pages: settled' || diag <"$tmp/bad"

	# criu lazy-pages does not start, and snap is killed
	cat >"$tmp/bin/criu" <<END
#!/bin/sh
[ "\$1" != lazy-pages ] || { >$tmp/lazily; sleep 1000; }
exec $criu "\$@"
END
	begin
	(until_true test -e "$tmp/lazily"
	pkill -KILL -f "^$BUILD/snap --to") &
	to "${over[*]} env PATH=$tmp/bin:$PATH $BUILD/snapload --receive"
	wait $!
	until_true quiet
	ok $? 'criu lazy-pages hangs: nothing runs there'
	judged 'criu lazy-pages hangs'
	ok $? 'criu lazy-pages hangs: settled' || diag <"$tmp/bad"

	# criu restore hangs, and snap gets a signal
	cat >"$tmp/bin/criu" <<END
#!/bin/sh
[ "\$1" != restore ] || { >$tmp/hangs; exec sleep 1001; }
exec $criu "\$@"
END
	begin
	(until_true test -e "$tmp/hangs"
	sleep 3
	until_true grep -q '^snap: the processes stay stopped until the far '\
'side has restored them' "$tmp/err"
	rc=$?
	pkill -TERM -f "^$BUILD/snap --to"
	exit $rc) &
	to "${over[*]} env PATH=$tmp/bin:$PATH $BUILD/snapload --receive"
	wait $!
	ok $? 'criu restore hangs: a message'
	pkill -KILL -f 'sleep 1001'
	until_true quiet
	judged 'criu restore hangs'
	is "$? $how" '0 here' 'criu restore hangs: settled' || diag <"$tmp/bad"

	# all memory arrives, but criu lazy-pages fails
	cat >"$tmp/bin/criu" <<END
#!/bin/sh
$criu "\$@" || exit
[ "\$1" != lazy-pages ]
END
	begin
	to "${over[*]} env PATH=$tmp/bin:$PATH $BUILD/snapload --receive"
	is "$ended $(there) ${said##*$'\n'}" "1  snap: far side: criu \
lazy-pages failed; the processes have run for a moment and are killed" \
	    'criu lazy-pages fails: killed there'
	is "$(ps -o stat= -p "$first" | cut -c1) $(grep -A 2 'stay stopped' \
	    "$tmp/err")" "T snap: the processes stay stopped here: they may \
have run on the far side, and were killed there
snap: end them here: kill -KILL $first
snap: or resume them here, although they repeat what they did there: kill -CONT \
$first" 'criu lazy-pages fails: stopped here'

	# the process there ends at once, or before criu lazy-pages does
	for ends in 'at once' 'before its memory is there'; do
		cat >"$tmp/bin/criu" <<END
#!/bin/sh
$criu "\$@" || exit
case "\$1 $ends" in
"restore at once")
	;;
"lazy-pages before its memory is there")
	while pgrep -f 'criu restore'; do sleep 0.1; done
	sleep 0.3
	;;
*)
	exit 0
	;;
esac
pkill -KILL -f "$here/counter.py"
while pgrep -r D,R,S -f "$here/counter.py"; do sleep 0.1; done
exit 0
END
		begin
		to "${over[*]} env PATH=$tmp/bin:$PATH $BUILD/snapload --receive"
		is "$ended $(there) $(grep -c 'far side: the process ended' \
		    "$tmp/err") $(grep -c 'if they run or ran there' \
		    "$tmp/err") $(ps -o stat= -p "$first" | cut -c1)" \
		    '1  1 1 T' \
		    "the process there ends $ends: it is stopped here"
		kill -CONT "$first"
	done

	# criu lazy-pages does not end, and snap gets a signal
	cat >"$tmp/bin/criu" <<END
#!/bin/sh
$criu "\$@" || exit
[ "\$1" != lazy-pages ] || { >$tmp/filled; exec sleep 1000; }
END
	begin
	(until_true test -e "$tmp/filled"
	pkill -TERM -f "^$BUILD/snap --to") &
	to "${over[*]} env PATH=$tmp/bin:$PATH $BUILD/snapload --receive"
	wait $!
	is "$ended $(grep -c -e '--to: interrupted by a signal' "$tmp/err") $(
	    ps -o stat= -p "$first" | cut -c1)" '1 1 T' \
	    'a signal ends the wait for the memory'
	pkill -KILL -f "$ours"
else
	skip 'criu lazy-pages' 'no userfaultfd(2)' 13
fi
pkill -KILL -f "$here/counter.py"
end_jobs
finish 78
