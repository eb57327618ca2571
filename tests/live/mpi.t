#!/usr/bin/env bash
# The examples for MPI and Slurm in snap(7): four ranks in one file, at one
# instant.  A rank counts when it gets the token, so the counters never rise
# from a rank to the next, and differ by 1 at most.
# beside: others unsanitized
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true
. "$(dirname "$0")/../tap.sh"

leave() {
	if [ "$BASHPID" -eq $$ ]; then
		# ranks do not end with their parents
		pkill -KILL -f "^$tmp/ring$"
	fi
	cleanup
}
if ! command -v mpicc >/dev/null || ! command -v mpirun >/dev/null; then
	skip "MPI" "no mpicc and mpirun" 6
	finish 6
fi
trap leave EXIT
cat >"$tmp/ring.c" <<'END'
#include <mpi.h>
#include <stdio.h>

volatile unsigned long turns;

int
main(int argc, char *argv[])
{
	int rank, n, token = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	for (;;) {
		if (rank != 0)
			MPI_Recv(&token, 1, MPI_INT, rank - 1, 0,
			    MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (turns++ == 0) {
			puts("ready");
			fflush(stdout);
		}
		MPI_Send(&token, 1, MPI_INT, (rank + 1) % n, 0,
		    MPI_COMM_WORLD);
		if (rank == 0)
			MPI_Recv(&token, 1, MPI_INT, n - 1, 0,
			    MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}
END
try "a ring of ranks is built" mpicc -no-pie -o "$tmp/ring" "$tmp/ring.c"
at=$(nm "$tmp/ring" | sed -n 's/ B turns$//p')
mkdir "$tmp/lib"
ln -s "$(readlink -f "$BUILD"/libsnap.so.*)" "$tmp/lib/libsnap.so.1"
cat >"$tmp/turns.py" <<'END'
"""Print the counters of all ranks: turns.py ADDRESS FILE"""
import sys

import snap

s = snap.open(sys.argv[2])
print(*(int.from_bytes(p.read(int(sys.argv[1], 16), 8), 'little')
        for p in s.processes))
END
turns() {
	LD_LIBRARY_PATH=$tmp/lib PYTHONPATH=$tests/../lib/snap \
	    PYTHONDONTWRITEBYTECODE=1 python3 "$tmp/turns.py" "$at" "$1"
}
# apart: print the largest difference of the numbers on standard input
apart() {
	tr ' ' '\n' | sort -n | sed -n '1p; $p' | tr '\n' ' ' |
	    awk '{ print $2 - $1 }'
}
all_ready() {
	[ "$(grep -c ready "$1")" -eq 4 ]
}
# three COMMAND ...: run a command that makes $tmp/job.snap three times; print
# the number of ranks and the largest difference of each
three() {
	for _ in 1 2 3; do
		"$@" 2>"$tmp/err" || cat "$tmp/err"
		turns "$tmp/job.snap" >"$tmp/turns"
		echo "$(wc -w <"$tmp/turns") $(apart <"$tmp/turns")"
	done | sed 's/ [01]$/ at one instant/' | sort | uniq -c | tr -s ' '
}

export OMPI_MCA_mpi_yield_when_idle=1
mpirun --allow-run-as-root --oversubscribe -n 4 "$tmp/ring" \
    >"$tmp/out" 2>"$tmp/mpi.log" 3>&- &
mpi=$!
until_true all_ready "$tmp/out" || diag <"$tmp/mpi.log"
by_parent() {
	# shellcheck disable=SC2046 # numbers
	"$BUILD/snap" -zo "$tmp/job.snap" $(pgrep -P "$mpi" -x ring)
}
is "$(three by_parent)" " 3 4 at one instant" \
    "mpirun: three snapshots of all ranks"
for p in $(pgrep -P "$mpi" -x ring); do
	"$BUILD/snap" -o "$tmp/one.snap" "$p"
	turns "$tmp/one.snap"
done >"$tmp/turns"
[ "$(apart <"$tmp/turns")" -gt 1 ]
ok $? "separate snapshots are of several instants" || diag <"$tmp/turns"
kill "$mpi"
wait "$mpi"

if ! is_root || ! command -v slurmctld slurmd munged >/dev/null; then
	skip "Slurm" "no slurmctld, slurmd and munged, or not root" 3
	finish 6
fi
here=$(hostname -s)
run=$tmp/run		# of munged, which trusts no directory that others write
mkdir "$tmp/state" "$tmp/spool" "$run"
chmod 755 "$tmp" "$run"
head -c 128 /dev/urandom >"$run/key"
chmod 400 "$run/key"
chown -R munge "$run"
cat >"$tmp/slurm.conf" <<END
ClusterName=one
SlurmctldHost=$here(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=$run/socket
CredType=cred/munge
SlurmUser=root
SlurmctldPort=$((20000 + $$ % 10000))
SlurmdPort=$((30000 + $$ % 10000))
StateSaveLocation=$tmp/state
SlurmdSpoolDir=$tmp/spool
SlurmctldPidFile=$tmp/slurmctld.pid
SlurmdPidFile=$tmp/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
SlurmdParameters=config_overrides
NodeName=$here NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
END
export SLURM_CONF=$tmp/slurm.conf
setpriv --reuid munge --regid munge --clear-groups munged -F \
    --key-file="$run/key" --socket="$run/socket" --pid-file="$run/pid" \
    --seed-file="$run/seed" >"$tmp/munge.log" 2>&1 3>&- &
until_true test -S "$run/socket" || diag <"$tmp/munge.log"
slurmctld -D >"$tmp/slurmctld.log" 2>&1 3>&- &
slurmd -D >"$tmp/slurmd.log" 2>&1 3>&- &
is_idle() {
	sinfo -ho %t 2>/dev/null | grep -qx idle
}
until_true is_idle || diag <"$tmp/slurmctld.log"
: >"$tmp/out"		# what mpirun wrote is not taken for srun's
srun --mpi=pmix -n 4 "$tmp/ring" >"$tmp/out" 2>"$tmp/mpi.log" 3>&- &
until_true all_ready "$tmp/out" || diag <"$tmp/mpi.log"
job=$(squeue -ho %i)
by_job() {
	# shellcheck disable=SC2046 # numbers
	"$BUILD/snap" -zo "$tmp/job.snap" \
	    $(scontrol listpids "$job.0" | awk '$4 ~ /^[0-9]/ { print $1 }')
}
is "$(three by_job)" " 3 4 at one instant" "Slurm: three snapshots of all ranks"
# shellcheck disable=SC2016 # for the other shell
on_each() {
	srun --jobid="$job" --overlap --ntasks-per-node=1 sh -c \
	    'exec "$1" --at "$0" -zo "$2/job.snap.$(hostname)" ring' \
	    "@$(($(date +%s) + 2))" "$BUILD/snap" "$tmp" &&
	    "$BUILD/snapcat" -o "$tmp/job.snap" "$tmp"/job.snap.*
}
is "$(on_each 2>&1; turns "$tmp/job.snap" >"$tmp/turns"
    echo "$(wc -w <"$tmp/turns") $(apart <"$tmp/turns")" | sed 's/ 1$/ 0/')" \
    "4 0" "snap on each node of a job, and one file"
is_over() {
	[ -z "$(squeue -h)" ]
}
scancel "$job"
until_true is_over
ok $? "the job has ended"
finish 6
