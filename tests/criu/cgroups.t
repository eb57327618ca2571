#!/usr/bin/env bash
# Processes are restored into their cgroups, which criu creates again with their
# properties as --manage-cgroups says; the same in a cgroup namespace.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

name=snap-cgroups.${tmp##*/}

# the mount point of each hierarchy in which cgroups can be created
tops=$(awk '$3 == "cgroup2" || ($3 == "cgroup" &&
    $4 ~ /(^|,)(pids|memory|cpu)(,|$)/) { print $2 }' /proc/mounts |
    while read -r top; do
	! mkdir "$top/$name" 2>/dev/null || echo "$top"
    done)

# shellcheck disable=SC2317 # called at the end, too
unmake() {
	local top

	for top in $tops; do
		[ ! -d "$top/$name" ] || find "$top/$name" -depth -type d \
		    -exec rmdir {} + 2>/dev/null
		[ ! -d "$top/$name.2" ] || find "$top/$name.2" -depth -type d \
		    -exec rmdir {} + 2>/dev/null
	done
}
trap unmake EXIT
[ -n "$tops" ] || skip_all 'cannot create cgroups'

# set_to FILE VALUE: set a property if the file exists
set_to() {
	[ ! -e "$1" ] || echo "$2" >"$1"
}

# make: in each hierarchy create two nested cgroups with properties, and an
# empty one in the inner one
make() {
	local top in

	for top in $tops; do
		in=$top/$name/in
		mkdir -p "$in"
		[ ! -e "$in/cgroup.type" ] || for c in $(cat \
		    "$top/$name/cgroup.controllers"); do
			echo "+$c" >"$top/$name/cgroup.subtree_control"
		done
		mkdir -p "$in/empty"
		set_to "$in/pids.max" 100
		set_to "$in/memory.limit_in_bytes" 128M
		set_to "$in/memory.max" 128M
		set_to "$in/cpu.shares" 77
		set_to "$in/cpu.weight" 77
		set_to "$in/hugetlb.2MB.max" 4M
		set_to "$in/cgroup.max.descendants" 7
		chown 1:2 "$in" "$in/cgroup.procs"
	done
}

# print the properties and owners of the cgroups
properties() {
	local top f

	for top in $tops; do
		(cd "$top" && find "$name" -type d | sort | while read -r d; do
			stat -c '%n %a %u %g' "$d" "$d/cgroup.procs"
			for f in "$d"/{pids.max,memory.limit_in_bytes} \
			    "$d"/{memory.max,cpu.shares,cpu.weight} \
			    "$d"/{hugetlb.2MB.max,cgroup.max.descendants} \
			    "$d/cgroup.subtree_control"; do
				[ ! -e "$f" ] || echo "$f $(cat "$f")"
			done
		done)
	done
}

enter() {
	local top

	for top in $tops; do
		echo "$1" >"$top/$name/in$2/cgroup.procs"
	done
}

# where PID[/task/TID] ...: print their cgroups below $name
where() {
	local p

	for p; do
		grep "$name" "/proc/$p/cgroup"
	done
}

# ended WHAT: end $pid and its descendants, and remove the cgroups
ended() {
	end_taken
	unmake
	[ -z "$(properties 2>/dev/null)" ]
	ok $? "$1: the cgroups are gone"
}

# begin: a family whose child is in a cgroup below the one of its parent
begin() {
	make
	start family
	enter "$pid" ''
	for child in $(cat "/proc/$pid/task/$pid/children"); do
		# the other one is a zombie
		[ -z "$(cat "/proc/$child/task/$child/children")" ] || break
	done
	enter "$child" /empty
	enter "$(cat "/proc/$child/task/$child/children")" /empty
	where "$pid" "$child" >"$tmp/were"
	properties >"$tmp/before"
}

begin
timeout 60 "$BUILD/snap" -ro "$tmp/snap" "$pid" 2>/dev/null
loads=(--manage-cgroups=soft)
take "$tmp/soft" -r
is "$(grep -c -- ' --manage-cgroups=soft' "$tmp/command")" 1 \
    'the command has the option'
if may_dump; then
	# criu dumps only the controllers of our cgroups: others change
	while IFS=: read -r _ list _; do
		lists+=(--cgroup-dump-controller "$list")
	done < <(where "$pid" | sort -u)
	dump "$pid" "$tmp/crius" --manage-cgroups=full --leave-running \
	    "${lists[@]}"
	try 'sets and properties are those of criu' \
	    python3 "$here/cgroups.py" "$tmp/soft" "$tmp/crius" "/$name/in"
else
	skip 'compared with criu' "$undumped" 2
fi
ended soft
restore "$tmp/soft"
goes_on soft
is "$(where "$pid" "$child")" "$(cat "$tmp/were")" \
    'soft: each is in its cgroup'
is "$(properties)" "$(cat "$tmp/before")" 'soft: properties are restored'
end

# existing cgroups keep their properties
for top in $tops; do
	echo 5 >"$top/$name/in/cgroup.max.descendants"
	echo 55 >"$top/$name/in/pids.max"
done 2>/dev/null
properties >"$tmp/changed"
restore "$tmp/soft"
is "$(properties)" "$(cat "$tmp/changed")" 'soft: existing ones are unchanged'
end
is "$(cmp -s "$tmp/changed" "$tmp/before"; echo $?)" 1 '(they differ)'
timeout 60 "$BUILD/snapload" --manage-cgroups=full -D "$tmp/full" "$tmp/snap" \
    >/dev/null
timeout 60 "$criu" restore -d -D "$tmp/full" -W "$tmp" --manage-cgroups=full \
    -o "$tmp/criu.log" >"$tmp/criu.out" 2>&1
is "$? $(properties)" "0 $(cat "$tmp/before")" 'full: properties are restored'
end
timeout 60 "$criu" restore -d -D "$tmp/full" -W "$tmp" --manage-cgroups=strict \
    -o "$tmp/criu.log" >"$tmp/criu.out" 2>&1
is "$? $(grep -c 'Abort restore of existing' "$tmp/criu.log")" '1 1' \
    'strict: existing cgroups: refused'
unmake
timeout 60 "$criu" restore -d -D "$tmp/full" -W "$tmp" --manage-cgroups=none \
    -o "$tmp/criu.log" >"$tmp/criu.out" 2>&1
is "$? $(grep -c "dir .* doesn't exist" "$tmp/criu.log")" '1 1' \
    'none: missing cgroups: refused'
unmake

# without the option it is restored into the cgroups of criu
begin
loads=()
take "$tmp/ignored" -r
is "$(ls "$tmp/ignored/cgroup.img" 2>/dev/null)$(grep -c cgroup \
    "$tmp/command")" 0 'without the option no image is written'
ended ignored
restore "$tmp/ignored"
is "$(grep -c "$name" "/proc/$pid/cgroup")" 0 \
    'without the option it is in the cgroups of criu'
end

# --cgroup-root
begin
loads=(--manage-cgroups=soft "--cgroup-root=/$name.2")
take "$tmp/moved" -r
ended moved
restore "$tmp/moved"
is "$(where "$pid" "$child")" "$(sed "s,/$name/in,/$name.2," "$tmp/were")" \
    '--cgroup-root: in the other cgroup'
end
unmake

# a cgroup namespace
make
in=(bash -c 'for top in $1; do echo 0 >"$top/$0/in/cgroup.procs"; done &&
    exec unshare --cgroup "${@:2}"' "$name" "$tops")
start "$here/counter.py"
in=(env)
where "$pid" >"$tmp/were"
inside() {
	nsenter --cgroup="/proc/$pid/ns/cgroup" cat "/proc/$pid/cgroup"
}
inside >"$tmp/inside"
loads=(--manage-cgroups=soft)
take "$tmp/space" -r
ended namespace
restore "$tmp/space"
goes_on 'a cgroup namespace'
is "$(where "$pid")" "$(cat "$tmp/were")" 'namespace: it is in its cgroup'
is "$(inside)" "$(cat "$tmp/inside")" 'namespace: it sees the same paths'
is "$(grep -c "$name" "$tmp/inside")" 0 '(without the part above)'
end
unmake

# a thread in another cgroup than its process, in version 1
first=$(for top in $tops; do [ ! -e "$top/tasks" ] || echo "$top"; done |
    head -n 1)
if [ -n "$first" ]; then
	make
	start counter 3
	enter "$pid" ''
	thread=$pid/task/$(printf '%s\n' "/proc/$pid/task/"* | sed 's,.*/,,' |
	    sort -n | tail -n 1)
	echo "${thread##*/}" >"$first/$name/in/empty/tasks"
	where "$pid" "$thread" >"$tmp/were"
	take "$tmp/thread" -r
	ended thread
	restore "$tmp/thread"
	goes_on 'a thread in another cgroup'
	is "$(where "$pid" "$thread")" "$(cat "$tmp/were")" \
	    'the thread is in it'
	is "$(diff <(where "$pid") <(where "$thread") | grep -c '^>')" 1 \
	    '(which is not that of its process)'
	end
else
	skip 'a thread in another cgroup' 'no cgroups of version 1' 7
fi
unmake

# a hierarchy that is not mounted while the snapshot is taken
mkdir "$tmp/mnt.v1"
hierarchy() {
	mount -t cgroup -o "none,name=${name##*.}" none "$tmp/mnt.v1" \
	    2>/dev/null
}
if hierarchy && mkdir -m 711 "$tmp/mnt.v1/sub"; then
	start "$here/counter.py"
	echo "$pid" >"$tmp/mnt.v1/sub/cgroup.procs"
	umount "$tmp/mnt.v1"
	take "$tmp/unmounted" -r
	end_taken
	hierarchy
	rmdir "$tmp/mnt.v1/sub"
	restore "$tmp/unmounted"
	is "$(grep -c "name=${name##*.}:/sub$" "/proc/$pid/cgroup") $(stat \
	    -c %a "$tmp/mnt.v1/sub")" '1 711' \
	    'a hierarchy that was not mounted'
	end
	rmdir "$tmp/mnt.v1/sub"
	umount "$tmp/mnt.v1"
	until_true no_hierarchy "${name##*.}" "$tmp/mnt.v1"
else
	skip 'a hierarchy that was not mounted' \
	    'no cgroups of version 1' 3
fi
finish 43
