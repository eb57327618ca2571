#!/usr/bin/env bash
# An operand of a program that reads snapshots is a file that exists, else the
# ID of a live process, else its name.
# beside: apart
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$tmp" || exit 1

name=source$$
cp "$targets/anon" "./$name"
# shellcheck disable=SC2154 # of tap.sh
target "./$name"
live=$pid
mv "$name" elsewhere
"$BUILD/snap" -o web.snap "$live" || exit 1
target "$targets/anon"
other=$pid
cp web.snap "$other"

# pids PROGRAM ARGUMENT ...: print the processes that it shows
pids() {
	local p=$1

	shift
	case $p in
	snapls) "$BUILD/snapls" -j "$@" | sed -n \
	    's/^{"type":"process",.*"pid":\([0-9]*\).*/\1/p' ;;
	snapstack) "$BUILD/snapstack" "$@" | sed -n \
	    's/^process \([0-9]*\).*/\1/p' ;;
	snapcore) "$BUILD/snapcore" -v -o core "$@" 2>&1 | sed -n \
	    's/.*: process \([0-9]*\):.*/\1/p' ;;
	snapgrep) "$BUILD/snapgrep" -l -F ELF "$@" ;;
	procmap) "$BUILD/procmap" -g - "$@" | sed -n \
	    's/.*>process \([0-9]*\):.*/\1/p' ;;
	pagestat) "$BUILD/pagestat" "$@" | sed -n "s/^ *\($live\|$other\) .*/\1/p" ;;
	esac
}

for p in snapls snapstack snapcore snapgrep procmap pagestat; do
	if left_out "$p"; then
		skip "$p: what operands mean" "$(pkg_lacks "$p") is missing" 6
		continue
	fi
	is "$(pids "$p" web.snap)" "$live" "$p: a file"
	is "$(pids "$p" "$live")" "$live" "$p: an ID"
	is "$(pids "$p" "$name")" "$live" "$p: a name"
	is "$(pids "$p" -p "$name" </dev/null)" "$live" "$p: -p"
	is "$(pids "$p" -p "$live" web.snap)" "$live" "$p: -p and a file"
	is "$(pids "$p" "$other") $(pids "$p" -p "$other" </dev/null)" \
	    "$live $other" "$p: a file named like a process ID"
done

# compare a snapshot with now
is "$("$BUILD/snapdiff" web.snap "$live" 2>&1 | grep -c '^[-+] ')" 0 \
    "snapdiff: it is the same process"
"$BUILD/snapdiff" "$other" "$$" >out 2>err
is "$? $(grep -c "^- process $live \|^+ process $$ " out)" "1 2" \
    "snapdiff: one is gone, another is new"

# a live process is not left stopped
state=$(sed -n 's/^State:\t\(.\).*/\1/p' "/proc/$live/status")
is "$state $("$BUILD/snapls" "$live" >/dev/null; sed -n \
    's/^TracerPid:\t//p' "/proc/$live/status")" "S 0" "it runs on"

"$BUILD/snapls" - "$live" <web.snap >out 2>err
is "$? $(cat err)" "2 snapls: cannot combine live processes with standard \
input" "standard input is refused with it"
"$BUILD/snapls" 4194304 >out 2>err
is "$? $(head -n 1 err)" "1 snap: no such process: 4194304" \
    "an unknown process"
env --ignore-signal=SIGCHLD "$BUILD/snapls" "$live" >out 2>err
is "$?$(cat err)" 0 "SIGCHLD may be ignored"
is "$("$BUILD/snap" "$live" | "$BUILD/snapls" -p "$live" | wc -l)" 2 \
    "-p alone: selects from a pipe"
"$BUILD/snapls" nobody-has-this >out 2>err
is "$? $(cat err)" "1 snapls: nobody-has-this: No such file or directory" \
    "neither a file nor a process"
finish 44
