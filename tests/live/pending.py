"""The signals that wait in a process, one a line: pending.py [SNAPSHOT] PID.

What for and the siginfo of each, as ptrace(2) tells it of each thread, which
is stopped for that and let go, or as a snapshot has it, and the masks of its
status.
"""
import ctypes
import os
import struct
import sys

import check

SEIZE, INTERRUPT, DETACH, PEEKSIGINFO, SHARED = 0x4206, 0x4207, 17, 0x4209, 1
SIGINFO, WALL, STOP = 128, 0x40000000, 19

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p,
                        ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def ptrace(request, tid, addr=None, data=None):
    n = libc.ptrace(request, tid, addr, data)
    if n == -1:
        e = ctypes.get_errno()
        raise OSError(e, '%s: ptrace(%#x)' % (os.strerror(e), request))
    return n


def show(what, infos):
    lines = []
    for at in range(0, len(infos), SIGINFO):
        sig, _, code, _, pid, uid, value = struct.unpack_from(
            '<iiiiiiQ', infos, at)
        # who sent SIGSTOP with kill(2) is not kept
        if sig == STOP and code in (0, -6):
            pid = '?'
        lines.append((sig, '%s: signal %d code %d pid %s uid %d value %#x'
                      % (what, sig, code, pid, uid, value)))
    # the first of a number comes first, the lowest number before all
    for _, line in sorted(lines, key=lambda v: v[0]):
        print(line)


def show_masks(tid, status):
    for line in status.splitlines():
        if line.startswith(('Sig', 'Shd')) and not line.startswith('SigQ'):
            print(tid, line)


def peek(tid, flags):
    info = ctypes.create_string_buffer(SIGINFO)
    infos = b''
    while ptrace(PEEKSIGINFO, tid, struct.pack(
            '<QIi', len(infos) // SIGINFO, flags, 1),
            ctypes.addressof(info)) == 1:
        infos += info.raw
    return infos


def live(pid):
    tids = sorted(int(t) for t in os.listdir('/proc/%d/task' % pid))
    for tid in tids:
        with open('/proc/%d/status' % tid) as f:
            show_masks(tid, f.read())
    for tid in tids:
        ptrace(SEIZE, tid)
        ptrace(INTERRUPT, tid)
    for tid in tids:
        os.waitpid(tid, WALL)
        show('thread %d' % tid, peek(tid, 0))
    show('process', peek(pid, SHARED))
    for tid in tids:
        ptrace(DETACH, tid)


def saved(name, pid):
    snap = check.load(name)
    rec = {tid: check.record(snap, tid) for tid in sorted(snap.procs)
           if tid < 1 << 22}
    for tid in rec:
        show_masks(tid, rec[tid]['status'].decode())
    for tid in rec:
        show('thread %d' % tid, rec[tid].get('sigpending/thread', b''))
    show('process', rec[pid].get('sigpending/process', b''))


if len(sys.argv) > 2:
    saved(sys.argv[1], int(sys.argv[2]))
else:
    live(int(sys.argv[1]))
