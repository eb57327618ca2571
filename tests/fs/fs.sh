# Functions for the tests of snapfs.  Sourced after tap.sh.
# shellcheck shell=bash

if [ ! -e /dev/fuse ]; then
	echo "1..0 # SKIP there is no /dev/fuse"
	exit 0
fi
if [ ! -w /dev/fuse ]; then
	echo "1..0 # SKIP /dev/fuse may not be used"
	exit 0
fi

# serve [OPTION ...] FILE ...: mount them with a server in the foreground; sets
# $mnt, a new directory, and $server, the process id
mounts=0
serve() {
	mounts=$((mounts + 1))
	# shellcheck disable=SC2154 # of tap.sh
	mnt=$tmp/mnt$mounts
	mkdir "$mnt"
	# the shell makes background processes ignore SIGINT
	env --default-signal=INT "$BUILD/snapfs" -f -m "$mnt" "$@" \
	    2>"$tmp/err" 3>&- &
	server=$!
	until_true mountpoint -q "$mnt"
}

ended() {
	[ ! -e "/proc/$1" ] || grep -q '^State:[[:space:]]*Z' "/proc/$1/status"
}

# server_ends NAME [STATUS]: passes if the server exits with STATUS (0) and
# nothing is mounted
server_ends() {
	local rc=

	if until_true ended "$server"; then
		wait "$server"
		rc=$?
	else
		kill -KILL "$server"
	fi
	is "$rc $(mountpoint -q "$mnt" && echo mounted)" "${2-0} " "$1"
}

unserve() {
	fusermount3 -u "$mnt"
	until_true ended "$server"
}

# snapfs ARG ...: run snapfs; sets $rc to its status, $err to its messages
snapfs() {
	rc=0
	timeout -s KILL 60 "$BUILD/snapfs" "$@" >"$tmp/out" 2>"$tmp/err" ||
	    rc=$?
	# shellcheck disable=SC2034 # for the tests
	err=$(sed "s,$tmp,TMP,g" "$tmp/err")
}

# server_of ARGUMENT: print the id of the process with this argument
server_of() {
	local p

	for p in /proc/[0-9]*; do
		if tr '\0' '\n' <"$p/cmdline" 2>/dev/null |
		    grep -qx "$1"; then
			echo "${p#/proc/}"
			return
		fi
	done
}
