#!/usr/bin/env bash
# The example for a container in snap(7), with one of Podman, if that can run
# one, and one made by hand.  All its processes are captured, and no others.
# beside: apart
# shellcheck source=tests/tap.sh disable=SC2016,SC2317 # scripts, traps
. "$(dirname "$0")/../tap.sh"

if ! is_root; then
	skip "containers" "needs root"
	finish 1
fi
app=$targets/nolibc
[ -x "$app" ] || skip_all "no program without a library"
recipe=$(page_commands "$tests/../cmd/snap/snap.7" |
    grep '^snap .* -c 3f2a51$')
groups=()
# Podman leaves empty groups behind
parents=$(find /sys/fs/cgroup -maxdepth 2 -name libpod_parent)

leave() {
	local g

	if [ "$BASHPID" -eq $$ ]; then
		podman_ rm -fa
		end_jobs
		for g in "${groups[@]}"; do
			until_true rmdir "$g"
		done
		[ -n "$parents" ] || find /sys/fs/cgroup -depth -type d \
		    -path '*/libpod_parent*' -exec rmdir {} +
	fi >/dev/null 2>&1
	cleanup
}
trap leave EXIT

# podman_ ARG ...: run Podman with storage of its own
podman_() {
	[ -n "${runtime-}" ] || return 1
	timeout 60 podman --runtime "$runtime" --root "$tmp/store" \
	    --runroot "$tmp/run" --cgroup-manager cgroupfs \
	    --storage-driver vfs "$@"
}

# takes WHAT ID PROGRAM: run the example for container ID, which runs PROGRAM
takes() {
	local what=$1 id=$2

	rm -f "$tmp/web.snap"
	(cd "$tmp" && PATH=$BUILD:$PATH bash -c "${recipe/3f2a51/${id:0:6}}") \
	    >"$tmp/out" 2>&1
	is "$? $(cat "$tmp/out")" "0 " "$what: $recipe"
	is "$("$BUILD/snapls" -l "$tmp/web.snap" | awk '
	    $1 == "process" && NF == 3 { print substr($3, 2, length($3) - 2) }
	    $1 == "in" { sub("^ *", ""); print }
	    $1 == "total" { if ($2 != 1) print }')" \
	    "$3
in container ${id:0:12}, process 1" "$what: only its process, with its inner ID"
}

# By hand: a PID namespace, and a cgroup named like Docker's.
mkdir "$tmp/mnt.group"
id=$(od -An -tx1 -N32 /dev/urandom | tr -d ' \n')
group=$tmp/mnt.group/docker-$id.scope
if { mount -t cgroup2 none "$tmp/mnt.group" ||
    mount -t cgroup -o pids none "$tmp/mnt.group"; } 2>"$tmp/err" &&
    mkdir "$group" 2>"$tmp/err"; then
	groups+=("$group")
	# unshare(1) itself stays outside the container
	target unshare -pf --kill-child sh -c \
	    'echo 0 >"$0/cgroup.procs" && exec "$1"' "$group" "$app"
	takes "by hand" "$id" nolibc
	unnoticed "$pid" "by hand: not noticed"
else
	skip "by hand" "$(cat "$tmp/err")" 3
fi

# Podman: the root directory has one program.
mkdir "$tmp/root"
cp "$app" "$tmp/root/web"
for runtime in crun runc; do
	PATH=$PATH:/usr/sbin
	command -v podman "$runtime" >"$tmp/out" && podman_ run --rm \
	    --network none --ulimit nofile=512:512 --ulimit nproc=512:512 \
	    --rootfs "$tmp/root" /web </dev/null >"$tmp/out" 2>&1 && break
	runtime=
done
if [ -n "$runtime" ]; then
	target timeout 100 podman --runtime "$runtime" --root "$tmp/store" \
	    --runroot "$tmp/run" --cgroup-manager cgroupfs \
	    --storage-driver vfs run -i --name web --network none \
	    --ulimit nofile=512:512 --ulimit nproc=512:512 \
	    --rootfs "$tmp/root" /web
	takes "Podman" "$(podman_ inspect -f '{{.Id}}' web)" web
	unnoticed "$pid" "Podman: not noticed"
else
	skip "Podman" "it runs no container here" 3
fi
finish 6
