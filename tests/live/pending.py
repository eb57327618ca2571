"""pending.py [SNAPSHOT] PID: print a process's pending signals, one a line.

Prints for whom each signal is pending, its siginfo, and the signal masks, from
ptrace(2), which stops each thread for a moment, or from SNAPSHOT.
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
        # the sender of a SIGSTOP from kill(2) is not kept
        if sig == STOP and code in (0, -6):
            pid = '?'
        lines.append((sig, '%s: signal %d code %d pid %s uid %d value %#x'
                      % (what, sig, code, pid, uid, value)))
    # sort by signal number, and keep the order of those with one number
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
