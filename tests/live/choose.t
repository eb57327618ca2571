#!/usr/bin/env bash
# Processes are selected by name, user, unit, container, pod or cgroup.
# beside: apart
# shellcheck source=tests/tap.sh disable=SC2016,SC2317 # scripts, traps
. "$(dirname "$0")/../tap.sh"

if ! is_root; then
	skip "choosing" "only root can start processes of several users"
	finish 1
fi

# user IDs without processes
ann=64991
bob=64992
tops=()

leave() {
	local top

	if [ "$BASHPID" -eq $$ ]; then
		end_jobs
		for top in "${tops[@]}"; do
			until_true empty "$top"
			find "$top" -depth -mindepth 1 -type d -exec rmdir {} +
			rmdir "$top"
		done
		mountpoint -q "$tmp/mnt.v1" && umount "$tmp/mnt.v1"
		until_true no_hierarchy "chosen$$" "$tmp/mnt.v1"
	fi
	cleanup
}

trap leave EXIT

# empty GROUP: succeeds if GROUP and the cgroups below it have no process
empty() {
	! find "$1" -name cgroup.procs -exec cat {} + 2>/dev/null | grep -q .
}

# start USER COMMAND ...: start a target as that user
start() {
	local user=$1

	shift
	target setpriv --reuid="$user" --regid="$user" --clear-groups "$@"
}

snap() {
	rc=0
	"$BUILD/snap" -o "$tmp/snap" "$@" 2>"$tmp/err" || rc=$?
	err=$(sed 's/^snap: //' "$tmp/err")
}

# pids FILE: print the process IDs in a snapshot, sorted
pids() {
	"$BUILD/snapls" "$1" 2>/dev/null | awk '$1 + 0 > 0 { print $1 }' | sort -n |
	    tr '\n' ' '
}

# takes WHAT WANT ARG ...: snap captures the processes WANT, without messages
takes() {
	local what=$1 want=$2

	shift 2
	rm -f "$tmp/snap"
	snap "$@"
	is "$rc $err $(pids "$tmp/snap")" "0  $(tr ' ' '\n' <<<"$want" | sort -n |
	    tr '\n' ' ')" "$what"
}

# refuses WHAT TEXT ARG ...: snap ARG ... fails with the message TEXT
refuses() {
	local what=$1 want=$2

	shift 2
	rm -f "$tmp/snap"
	snap "$@"
	is "$rc $err $(ls "$tmp/snap" 2>/dev/null)" "1 $want " "$what"
}

# Names and users.
chmod 755 "$tmp"
name=chosen-$$
for p in snap snapls pagestat; do
	cp "$BUILD/$p" "$tmp/pub"
done
cp "$targets/anon" "$tmp/pub/$name"
target "$tmp/pub/$name"
own=$pid
start $ann "$tmp/pub/$name"
anns=$pid
start $ann "$targets/anon"
also=$pid
start $bob "$tmp/pub/$name"
bobs=$pid

takes "root: a name selects processes of all users" "$own $anns $bobs" "$name"
takes "root: -u limits a name to a user" "$bobs" -u $bob "$name"
takes "-u does not limit a process ID" "$own $bobs" -u $bob "$name" "$own"
takes "-u alone selects all of a user" "$anns $also" -u $ann
as=(setpriv --reuid="$ann" --regid="$ann" --clear-groups)
"${as[@]}" "$tmp/pub/snap" "$name" >"$tmp/snap" 2>"$tmp/err"
is "$? $(cat "$tmp/err") $(pids "$tmp/snap")" "0  $anns " \
    "a user: a name selects only their own, and others are not mentioned"
"${as[@]}" sh -c "'$tmp/pub/snap' -u $ann | cat | dd status=none" \
    >"$tmp/snap" 2>"$tmp/err"
"$BUILD/snapls" -no NAME "$tmp/snap" | sort -u >"$tmp/ls"
is "$(cat "$tmp/err") $(grep -cxE 'cat|dd|snap' "$tmp/ls") $(
    pids "$tmp/snap" | tr ' ' '\n' | grep -cxE "$anns|$also")" " 0 2" \
    "-u leaves out snap itself and the readers of its output"
"${as[@]}" "$tmp/pub/snap" -u $bob "$name" >/dev/null 2>"$tmp/err"
is "$? $(grep -c "process $bobs belongs to user $bob" "$tmp/err")" "1 1" \
    "a user: another user's processes are refused with a message"
as=(env)
refuses "no such name" "no process of $bob is called \"${name}x\"" \
    -u $bob "${name}x"
refuses "only others have the name" \
    "no process of 64993 is called \"$name\" (3 of \
others)" -u 64993 "$name"
refuses "a user without processes" "user 64993 has no processes" -u 64993
"$BUILD/pagestat" "$name" -u $ann >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/err") $(awk 'NR > 1 { print $1 }' "$tmp/out")" \
    "0  $anns" "pagestat: a name and a user"
"$BUILD/pagestat" -u $ann >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/err") $(awk '$1 + 0 > 0 { print $1 }' "$tmp/out" |
    sort -n | tr '\n' ' ')" "0  $(printf '%s\n' "$anns" "$also" | sort -n |
    tr '\n' ' ')" "pagestat: -u alone"
"$BUILD/procmap" "$name" >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/err") $(sed -n 's/^process \(.*\):$/\1/p' "$tmp/out" |
    sort -n | tr '\n' ' ')" "0  $(printf '%s\n' "$own" "$anns" "$bobs" |
    sort -n | tr '\n' ' ')" "procmap: a name"
"$BUILD/procmap" -u $bob -p "$name" >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/err") $(grep -c "/$name\$" "$tmp/out")" \
    "0  $(grep -c "/$name\$" "/proc/$bobs/maps")" \
    "procmap: a name and a user"

# new_id: print a random container ID
new_id() {
	head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n'
}

# into GROUP [USER]: start a target in a cgroup
into() {
	mkdir -p "$1"
	target bash -c 'echo $$ >"$0/cgroup.procs" && exec setpriv \
	    --reuid="$1" --regid="$1" --clear-groups "$2"' \
	    "$1" "${2:-0}" "$targets/anon"
}

# groups VERSION: test with a cgroup hierarchy of that version
groups() {
	local v=$1 top=$tmp/mnt.$1 path unit=chosen$1-$$.service id other
	local uid first second third inner i found

	mkdir "$top"
	if [ "$v" = v1 ]; then
		mount -t cgroup -o "none,name=chosen$$" none "$top" 2>/dev/null
	else
		mount -t cgroup2 none "$top" 2>/dev/null
	fi || {
		skip "cgroups $v" "cannot be mounted" 17
		return
	}
	# the root of our part of the hierarchy
	path=/chosen$v$$.slice
	top=$top$path
	mkdir "$top" || {
		skip "cgroups $v" "cannot be made" 17
		return
	}
	tops+=("$top")

	into "$top/$unit"
	first=$pid
	into "$top/$unit/below-$v$$" $ann
	second=$pid
	takes "$v: a unit and the cgroups below it" "$first $second" -c "$unit"
	takes "$v: a unit, without .service" "$first $second" -c "${unit%.service}"
	takes "$v: a slice" "$first $second" -c "${path#/}"
	takes "$v: a cgroup by its name" "$second" -c "below-$v$$"
	takes "$v: a path as /proc has it" "$second" -c "$path/$unit/below-$v$$"
	takes "$v: a directory" "$first $second" -c "$top"
	takes "$v: a unit and a user" "$second" -c "$unit" -u $ann
	refuses "$v: only others" "no process of $bob is in $unit (2 of \
others)" -c "$unit" -u $bob
	"$BUILD/pagestat" -c "$unit" >"$tmp/out" 2>"$tmp/err"
	is "$? $(cat "$tmp/err") $(awk '$1 + 0 > 0' "$tmp/out" | wc -l)" \
	    "0  2" "$v: pagestat"

	"$BUILD/procmap" -c "$unit" >"$tmp/out" 2>"$tmp/err"
	is "$? $(cat "$tmp/err") $(sed -n 's/^process \(.*\):$/\1/p' \
	    "$tmp/out" | sort -n | tr '\n' ' ')" "0  $(printf '%s\n' \
	    "$first" "$second" | sort -n | tr '\n' ' ')" "$v: procmap"

	# a unit of the same name in a container is a different unit
	id=$(new_id)
	other=${id:0:6}$(new_id)
	other=${other:0:64}
	into "$top/docker-$id.scope/system.slice/$unit"
	inner=$pid
	takes "$v: a unit of the host, not of a container" \
	    "$first $second" -c "$unit"
	uid=$(cat /proc/sys/kernel/random/uuid)
	into "$top/kubepods.slice/kubepods-pod${uid//-/_}.slice/cri-containerd-$other.scope"
	third=$pid
	takes "$v: containers, by id" "$inner $third" -c "$id" -c "$other"
	takes "$v: a pod" "$third" -c "$uid"
	takes "$v: a pod, as its cgroup names it" "$third" -c "pod$uid"
	rm "$tmp/snap"
	snap -c "${id:0:6}"
	is "$rc $(tr -s ' :,' '\n' <<<"$err" | sort | tr '\n' ' ')$(
	    ls "$tmp")" "1 $(printf '%s\n' "$id" "$other" "${id:0:6}" is \
	    ambiguous container container | sort | tr '\n' ' ')$(ls "$tmp")" \
	    "$v: an ambiguous prefix of two IDs is refused"
	"$BUILD/snap" -c "${id:0:12}" -c "${uid:0:8}" -o "$tmp/snap"
	"$BUILD/snapls" -l "$tmp/snap" | grep '^  *in ' | sort |
	    sed 's/^ *//' >"$tmp/out"
	is "$(cat "$tmp/out")" "$(sort <<END
in unit $unit, container ${id:0:12}
in container ${other:0:12}, pod $uid
END
	    )" "$v: the snapshot has unit, container and pod"

	# another user may make this cgroup in a unit of theirs
	into "$top/$unit/$id.service" $ann
	takes "$v: a container, not a unit in a unit with the name of its id" \
	    "$inner" -c "$id"

	# processes that are forked until all are stopped are captured
	target bash -c 'echo $$ >"$0/cgroup.procs" && exec "$1"' \
	    "$top/$unit/below-$v$$" "$targets/baton"
	found=0
	for ((i = 0; i < 20; i++)); do
		rm -f "$tmp/snap"
		snap -n -c "$path/$unit/below-$v$$"
		"$BUILD/snapls" -no NAME,MEMORY "$tmp/snap" >"$tmp/out" 2>&1
		if awk '$1 == "baton" && $2 != "0B" { f = 1 }
		    END { exit !f }' "$tmp/out"; then
			found=$((found + 1))
		else
			diag <<<"$err"
			diag <"$tmp/out"
		fi
	done
	is "$found" 20 "$v: a process forked meanwhile is captured"
	eval "exec ${ask_fd[$pid]}>&-"
}

groups v1
groups v2
finish 50
