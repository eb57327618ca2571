#!/usr/bin/env python3
"""arm64.py PAGE FILE: write a small snapshot of arm64, with pages of PAGE bytes
arm64.py core FILE: print what is in a core

Process 7 has a thread 8, two pages of memory, and a text of two pages, from the
third page of /bin/prog on, none of which is in the snapshot.
"""
import struct
import sys

if sys.argv[1] == 'core':
    with open(sys.argv[2], 'rb') as f:
        core = f.read()
    print('machine %d' % struct.unpack_from('<H', core, 18))
    for i in range(struct.unpack_from('<H', core, 56)[0]):
        kind, flags, off, addr, _, size, _, align = struct.unpack_from(
            '<IIQQQQQQ', core, 64 + 56 * i)
        if kind == 1:
            print('load', align, off % align, addr % align, size)
        while kind == 4 and size > 0:
            n, d, note = struct.unpack_from('<III', core, off)
            at = off + 12 + (n + 3) // 4 * 4
            if note == 0x46494c45:
                print('files', *struct.unpack_from('<QQQQQ', core, at))
            elif note > 0x100:
                print('note %x' % note)
            size -= at + (d + 3) // 4 * 4 - off
            off = at + (d + 3) // 4 * 4
    sys.exit(0)

page = int(sys.argv[1])
text, data = 64 * page, 128 * page


def number(n):
    return b'%11d ' % n


def record(pid, kind, body):
    return b'%11d %s\n' % (pid, kind) + body


def proc(pid, files):
    body = b'linux arm64 1\n' + b''.join(
        name.encode() + b'\n' + number(len(b)) + b for name, b in files)
    return record(pid, b'proc', number(len(body)) + body)


def stat(pid, name, rss):
    v = [0] * 50
    v[0], v[16], v[20], v[21] = 1, 2, 99 * page, rss
    return ('%d (%s) S %s\n' % (pid, name, ' '.join(map(str, v)))).encode()


def regs(seed):
    """x0 to x30, sp, pc, pstate; v0 to v31, fpsr, fpcr"""
    gp = [seed * 1000 + i for i in range(31)]
    gp += [data + 0x80 * seed, text + 4 * seed, 0x80001000]
    fp = b''.join(struct.pack('<QQ', seed << 32 | i, i) for i in range(32))
    tls = 0xffff80000000 + seed
    return [('regset/prstatus', struct.pack('<34Q', *gp)),
            ('regset/fpregs', fp + struct.pack('<IIQ', 0x11, 0x3000000, 0)),
            ('regset/401', struct.pack('<QQ', tls, 0)[:8 * seed]),
            ('regset/406', struct.pack('<QQ', 0x7f000000000000, 0))]


def auxv():
    v = (3, text + 64, 4, 56, 5, 0, 6, page, 9, text, 11, 1000, 0, 0)
    return struct.pack('<14Q', *v)


maps = ''.join('%08x-%08x %s %08x 08:01 %d %s\n' % m for m in (
    (text, text + 2 * page, 'r-xp', 2 * page, 77, '/bin/prog'),
    (data, data + 2 * page, 'rw-p', 0, 0, '[stack]'))).encode()
kilobytes = [(b'at %x ' % (data + i * 1024) * 200)[:1024]
             for i in range(2 * page // 1024)]
mem = number(1) + number(data) + number(2 * page) + b''.join(
    b'r' + k for k in kilobytes)
out = b'process snapshot 1735689600 ann@arm arm64 1 "Linux 6.12"\n'
out += proc(7, [('stat', stat(7, 'prog', 2)),
                ('status', b'Name:\tprog\nTgid:\t7\nPid:\t7\n'),
                ('comm', b'prog\n'), *regs(1), ('cmdline', b'prog\0-x\0'),
                ('auxv', auxv()), ('maps', maps), ('exe', b'/bin/prog'),
                ('missing', b'%x-%x file\n' % (text, text + 2 * page))])
out += record(7, b'mem', mem)
out += proc(8, [('thread', b'7\n'), ('stat', stat(8, 'worker', 2)),
                ('status', b'Name:\tworker\nTgid:\t7\nPid:\t8\n'),
                ('comm', b'worker\n'), *regs(2)])
with open(sys.argv[2], 'wb') as f:
    f.write(out)
