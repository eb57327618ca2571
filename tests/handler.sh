# Functions for tests that set kernel.core_pattern (core(5)), a setting of the
# whole machine.  Sourced after tap.sh.  Where it may not be set, tests skip.
# shellcheck shell=bash disable=SC2034,SC2154 # for those that source it

proc=/proc/sys/kernel
was=$(cat "$proc/core_pattern")
waslimit=$(cat "$proc/core_pipe_limit")

# handler_lacks: print why core_pattern may not be set; nothing if it may
handler_lacks() {
	local d

	case $was in
	'|'*)
		echo "another program handles cores: $was"
		return
		;;
	esac
	if ! is_root || ! { echo "$was" >"$proc/core_pattern"; } 2>/dev/null
	then
		echo "core_pattern is not ours to set"
		return
	fi
	# the kernel runs a handler in the namespaces of kthreadd
	for d in "$tmp" "$BUILD"; do
		if [ "$(cat /proc/2/comm 2>/dev/null)" != kthreadd ] ||
		    ! [ "$d" -ef "/proc/2/root$d" ]; then
			echo "the kernel runs handlers in the initial" \
			    "namespaces, where this test is not"
			return
		fi
	done
}

# handler_begin: skip the file where core_pattern may not be set.  Else restore
# it when this test ends, however it ends: a process in its own session waits
# for that, because tests/one kills the process group of the test.
handler_begin() {
	local why

	why=$(handler_lacks)
	if [ -n "$why" ]; then
		skip_all "$why"
	fi
	# shellcheck disable=SC2016 # for the other shell
	setsid bash -c '
		tmp=$0 proc=$1 was=$2 waslimit=$3
		trap "" HUP INT TERM
		while kill -0 "$4"; do
			sleep 0.2
		done
		put_back' "$tmp" "$proc" "$was" "$waslimit" $$ \
	    </dev/null >/dev/null 2>&1 3>&- &
	disown
	trap 'put_back; cleanup' EXIT
	ulimit -c unlimited	# snapcrash keeps no snapshot if it is 0
}

# put_back: restore the settings, unless another test has set them since
put_back() {
	if grep -qF "$tmp/" "$proc/core_pattern"; then
		echo "$was" >"$proc/core_pattern"
		echo "$waslimit" >"$proc/core_pipe_limit"
	fi
}
export -f put_back

# snapcrash_begin: create folders for snapcrash; $conf is its configuration
# file, and its snapshots are below $store
snapcrash_begin() {
	on_disk
	chmod 711 "$disk"
	store=$disk/store
	conf=$tmp/c
	mkdir "$tmp/lib" "$tmp/sysctl" "$tmp/units"
	mkdir -p /etc/sysctl.d
}

# config LINE ...: write the configuration file
config() {
	printf '%s\n' "directory $store" "keep-free 0" "$@" >"$conf"
}

# crash ARG ...: run snapcrash with folders of this test; sets $rc and $err, and
# writes its output to $tmp/out.  If the file $tmp/pattern exists, it replaces
# core_pattern: in another mount namespace the kernel does not let a process set
# that to a socket.  If $tmp/run exists, it replaces /run.
crash() {
	unshare -m sh -c "mount --bind '$tmp/lib' /var/lib &&
	    { [ ! -e '$tmp/pattern' ] ||
	    mount --bind '$tmp/pattern' '$proc/core_pattern'; } &&
	    { [ ! -e '$tmp/run' ] || mount --bind '$tmp/run' /run; } &&
	    mount --bind '$tmp/sysctl' /etc/sysctl.d &&
	    { [ ! -d /etc/systemd/system ] ||
	    mount --bind '$tmp/units' /etc/systemd/system; } && exec \"\$@\"" - \
	    "$BUILD/snapcrash" -c "$conf" "$@" >"$tmp/out" 2>"$tmp/err"
	rc=$?
	err=$(cat "$tmp/err")
}

# handle: make snapcrash the core handler without installing it
handle() {
	mkdir "$store"
	echo "|$BUILD/snapcrash -c$conf take %P %I %s %d %u %F" \
	    >"$proc/core_pattern"
	echo 4 >"$proc/core_pipe_limit"
}

# taken NAME N: there are at least N snapshots of the program NAME
taken() {
	[ "$(find "$store" -name "$1.*.snap.gz" | wc -l)" -ge "$2" ]
}

# whole FILE: this snapshot below $store is complete; lists it in $tmp/out
whole() {
	"$BUILD/snapls" -c "$store/$1" >"$tmp/out" 2>&1
}

# has_acls: the file system of the store has access control lists (acl(5))
has_acls() {
	python3 -c 'import errno, os, sys
try:
    os.getxattr(sys.argv[1], "system.posix_acl_access")
except OSError as e:
    sys.exit(e.errno == errno.EOPNOTSUPP)' "$store"
}

# readable: the user of the crashed process may read the snapshot $id
readable() {
	[ -n "$(find "$store" -name "$id" -perm -g=r)" ]
}

# falls COMMAND ...: run a target that crashes; sets $id, its snapshot
falls() {
	target "$@"
	printf f >&"${ask_fd[$pid]}"
	wait "$pid" 2>/dev/null
	until_true taken "fall.$pid" 1
	id=$(cd "$store" && echo "fall.$pid."*)
}

# none_runs: no handler that the kernel started runs
none_runs() {
	! pgrep -f "snapcrash -c$conf take" >/dev/null
}

# as_worker FILE: start a process that locks FILE as a working snapcrash does;
# sets $worker
as_worker() {
	(
		exec 8>>"$1"
		flock 8 && exec sleep 1000 3>&-
	) &
	worker=$!
	until_true is_held "$1"
}

# fall_at_once N: run N targets that crash at once, and wait until no handler
# runs; sets $pids
fall_at_once() {
	local i p

	pids=()
	for ((i = 0; i < $1; i++)); do
		target "$targets/fall" segv 0
		pids+=("$pid")
	done
	for p in "${pids[@]}"; do
		printf f >&"${ask_fd[$p]}"
	done
	for p in "${pids[@]}"; do
		wait "$p" 2>/dev/null
	done
	until_true none_runs
}

# is_held FILE: a process has locked it (flock(2)).  An attempt to lock it could
# make another process fail to lock it.
is_held() {
	grep -q "FLOCK.*:$(stat -c %i "$1" 2>/dev/null || echo none) " \
	    /proc/locks
}
