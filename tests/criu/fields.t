#!/usr/bin/env bash
# The images that snapload makes of a program are compared, field by field, with
# those that criu dumps a moment later.  The program is idle.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"
may_dump || skip_all "$undumped"

# accepted differences, for fields.py
cat >"$tmp/accepted" <<'EOT'
# Fields that may be missing, with what criu takes them for then.
inventory/(lsmtype|network_lock_method|plugins_entry|dump_criu_run_id) # optional ? ours is None
inventory/root_cg_set # no cgroups are told: criu's own ? ours is None
task/core/thread_core/cg_set # likewise ? ours is None
inventory/root_ids/.*_ns_id # no namespaces are told: criu's own ? ours is None
task/ids/.*_ns_id # likewise ? ours is None
task/core/(sigaction|default) \d+/compat # of 64-bit processes it is always this ? ours is None and theirs == 0
task/core/tc/loginuid # nobody logged in ? ours is None and theirs == 0xffffffff
task/core/thread_info/fpregs/xsave/(ymmh_space|opmask_reg|zmm_upper|hi16_zmm)/\d+ # a register in its initial state ? ours is None and theirs == 0
task/core/thread_info/fpregs/xsave/cet # no shadow stack ? ours is None and theirs == b'\x08\x00\x10\x00'
task/core/thread_info/tls/\d/.* # segments that nobody set up ? ours is None
task/mm/thp_disabled # it is not ? ours is None and theirs == 0
task/mm/vma ffffffffff600000/.* # [vsyscall] is the kernel's own, and criu restores nothing there ? ours is None
task/(fs/cwd|fs/root|mm/exe|mm/vma [0-9a-f]+)/file/mode # checked if it is there: of what is mapped, /proc tells no mode ? ours is None
task/(fs/cwd|fs/root|mm/exe)/mode # likewise ? ours is None
task/mm/vma [0-9a-f]+/file/size # checked if it is there: files that are written change ? ours is None
task/mm/vma [0-9a-f]+/file/object/mode # of memory without a descriptor, whose mode nobody sees ? ours is None and theirs == 0o100777
task/fd \d+/file/opts/[a-z_]+ # socket options that have their initial values ? ours is None and theirs in (0, 1)
task/fd \d+/file/ns_id # sockets are in criu's own network namespace, like all ? ours is None
task/fd \d+/file/target \d+/(dev|inode|pos) # where a descriptor was replaced criu finds the file by these ? ours is None
task/fd \d+/file/size # of a file without a name, which comes along ? ours is None
task/core/default \d+/(flags|restorer) # nothing asks for those of a default action ? ours == 0
# The same in another way.
task/core/thread_core/timerslack_ns # criu 4.2 and older do not know it ? theirs is None
task/fd \d+/file/ghost/dev # the form of makedev(3), as in watches: criu compares only these two ? ours is not None
task/core/thread_core/blk_sigset # of the thread that leads, it is in the task as well ? theirs is None
task/core/thread_core/pdeath_sig # criu, the parent of the root process, would send it ? ours is None
task/core/thread_core/(pdeath_sig|sched_prio) # written though it is what a missing one means ? ours == 0 and theirs is None
task/fd \d+/file/shutdown # likewise ? ours == 0 and theirs is None
task/mm/vma [0-9a-f]+/fdflags # a private mapping of a file that was opened to write: reading will do ? ours == 0 and theirs == 2
task/mm/vma [0-9a-f]+/file/flags # shared memory is opened to write by mappings that write ? ours == 2 and theirs in (0, 0o100002)
task/fd \d+/file/backlog # means nothing of a socket that does not listen; criu's is the length of another queue ? ours == 0
# What criu has wrong, or loses.
task/core/tc/personality # it takes the hexadecimal number for a decimal one ? theirs == int('%x' % ours)
task/mm/vma [0-9a-f]+/madv # it does not know of MADV_WIPEONFORK ? ours ^ (theirs or 0) == 1 << 18
task/mm/vma [0-9a-f]+/flags # it takes MAP_DROPPABLE, as of the C library's getrandom(3), for MAP_PRIVATE ? ours ^ theirs == 8 | 2
# Time went on in between.
task/core/tc/timers/(real|virt|prof)/vusec # what is left of a second
task/core/timer \d/vnsec # likewise
task/fd \d+/file/vnsec # likewise
task/core/tc/timers/(real|virt|prof)/vsec # ours was first ? 0 <= ours - theirs <= 30
task/core/timer \d/vsec # likewise ? 0 <= ours - theirs <= 30
task/fd \d+/file/vsec # likewise ? 0 <= ours - theirs <= 30
EOT

# shellcheck disable=SC2317 # called by until_true
is_idle() {
	grep -q '^idle' "$log"
}

# taken DIR OPTION ...: like take; write what is not restored to $tmp/lost
taken() {
	timeout 60 "$BUILD/snap" "${@:2}" -o "$tmp/snap" "$pid" 2>"$tmp/err" &&
	    timeout 60 "$BUILD/snapload" -D "$1" "$tmp/snap" \
	    >"$tmp/command" 2>>"$tmp/err"
	is "$? $(grep -vE 'is not restored$|: needs criu ' "$tmp/err")" "0 " \
	    "snap ${*:2}, snapload"
	sed -n 's/^snapload: process [0-9]*: //p' "$tmp/err" >"$tmp/lost"
}

# compare PROGRAM ARG ...
compare() {
	local what=${1##*/}

	start "$@"
	until_true is_idle
	# let the write of this line end, and the threads sleep
	until_true settled
	taken "$tmp/ours.$what" -r
	sleep 0.2
	dump "$pid" "$tmp/criu.$what"
	if python3 "$here/fields.py" "$tmp/ours.$what" "$tmp/criu.$what" \
	    "$tmp/accepted" >"$tmp/out" 2>&1; then
		ok 0 "$what: every field is the same, or accepted"
		tail -n 1 "$tmp/out" | diag
	else
		ok 1 "$what: every field is the same, or accepted"
		diag <"$tmp/out"
	fi
}

# print what /proc shows of the threads of $pid, and the number of its mappings
# that are wiped by fork(2) or droppable
kernels() {
	local t

	for t in "/proc/$pid/task/"*; do
		echo "${t##*/} $(<"$t/comm")"
		grep -E '^(Uid|Gid|Groups|Sig[BPIC]|ShdPnd|Cap|NoNew|Umask)' \
		    "$t/status"
		# priority, nice value, exit signal, real-time priority, policy
		sed 's/.*) //' "$t/stat" | cut -d ' ' -f 16-17,36,38-39
	done
	cat "/proc/$pid/limits"
	cat "/proc/$pid/oom_score_adj"
	grep -E '^(ID|signal|notify|ClockID)' "/proc/$pid/timers"
	grep -c '^VmFlags:.* wf' "/proc/$pid/smaps"
	grep -c '^VmFlags:.* dp' "/proc/$pid/smaps"
}

compare carryon idle
compare "$here/traits.py"
sed -n 's/^# not/not here:/p' "$log" | diag

# the same program, restored from our images
start "$here/traits.py"
until_true is_idle
until_true settled
kernels >"$tmp/before"
taken "$tmp/there" -k -r
is "$(cat "$tmp/lost")" 'its personality, 40000, is not restored
its parent-death signal, 17, is not restored' \
    'traits.py: snapload prints what criu does not restore'
until_true reaped "$pid"
restore "$tmp/there"
kernels >"$tmp/after"
diff "$tmp/before" "$tmp/after" >"$tmp/diff"
ok $? 'traits.py: restored, /proc shows the same' ||
    diag <"$tmp/diff"
end
finish 10
