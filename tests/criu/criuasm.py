#!/usr/bin/env python3
"""Make and read small CRIU images, without the library.

criuasm.py make CASE DIR       write the images of a case
criuasm.py all DIR             write all cases, in directories of their names
criuasm.py elf FILE DIR DIR    images with executable FILE; those in the second
                               DIR have another build ID
criuasm.py pack DIR FILE       make an input for the fuzzer from a directory
criuasm.py same DIR DIR ...    compare the memory that pagemaps and pages
                               describe, and all other files byte for byte

Messages are encoded by hand: a field is (number, value); a number is encoded
as a varint, bytes and strings are length-delimited, a list is a message.
"""
import os
import re
import struct
import sys

PAGE = 4096
MTYPE = 1                       # 1 is x86-64, 3 arm64
COMMON = 0x54564319
MAGIC = {'inventory': 0x58313116, 'pstree': 0x50273030, 'core': 0x55053847,
         'ids': 0x54432030, 'mm': 0x57492820, 'fs': 0x51403912,
         'fdinfo': 0x56213732, 'files': 0x56303138, 'pagemap': 0x56084025,
         'memfd': 0x48453499, 'seccomp': 0x64413049,
         'pipes-data': 0x56453709}


def varint(v):
    v &= (1 << 64) - 1
    out = b''
    while v > 127:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v])


def msg(fields):
    out = b''
    for n, v in fields:
        if isinstance(v, list):
            v = msg(v)
        elif isinstance(v, str):
            v = v.encode()
        if isinstance(v, bytes):
            out += varint(n << 3 | 2) + varint(len(v)) + v
        else:
            out += varint(n << 3) + varint(v)
    return out


def frame(fields):
    m = fields if isinstance(fields, bytes) else msg(fields)
    return struct.pack('<I', len(m)) + m


def image(kind, *frames):
    head = b'' if kind == 'inventory' else struct.pack('<I', COMMON)
    return head + struct.pack('<I', MAGIC[kind]) + b''.join(
        f if isinstance(f, bytes) else frame(f) for f in frames)


def page(text):
    """A page filled with text."""
    text = text.encode() + b' '
    return (text * (PAGE // len(text) + 1))[:PAGE]


def entry(addr, n, flags=4, form='both'):
    """An entry of a pagemap, as the versions of criu write it."""
    f = [(1, addr)]
    if form == 'old':           # up to 4.1: field 2 counts
        return f + [(2, n), (4, flags)]
    if form == 'new':           # 4.2: field 5 counts, and 2 is 0
        return f + [(2, 0), (4, flags), (5, n)]
    if form == 'bare':          # without flags: present
        return f + [(2, n)]
    if form == 'ancient':       # in the parent
        return f + [(2, n), (3, 1)]
    return f + [(2, n), (4, flags), (5, n)]


def layout(mtype, size):
    """Use another machine type, and pages of size bytes, from here on."""
    global MTYPE, PAGE, CODE, DATA, HEAP, ANON, SHM, MEMFD, LIB, VVAR, STACK
    MTYPE = mtype
    CODE, DATA, HEAP, ANON, SHM, MEMFD, LIB, VVAR, STACK = (
        a * size // PAGE for a in (CODE, DATA, HEAP, ANON, SHM, MEMFD, LIB,
                                   VVAR, STACK))
    PAGE = size


FOWN = [(1, 0), (2, 0), (3, 0), (4, 0), (5, 0)]
CODE, DATA, HEAP, ANON, SHM, MEMFD, LIB, VVAR, STACK = (
    0x400000, 0x403000, 0x500000, 0x600000, 0x700000, 0x710000, 0x720000,
    0x7fff00000000, 0x7fff10000000)


def reg(i, name, **kw):
    f = [(1, i), (2, kw.get('flags', 0)), (3, kw.get('pos', 0)), (5, FOWN),
         (6, name)]
    if 'mode' in kw:
        f.append((10, kw['mode']))
    return [(1, 1), (2, i), (3, f)]


def vma(start, end, status, prot=3, flags=0x22, shmid=0, off=0):
    return [(1, start), (2, end), (3, off), (4, shmid), (5, prot), (6, flags),
            (7, status), (8, 1)]


def gpregs(seed, mode=1):
    v = [(i, seed + i) for i in range(1, 28)]
    v[17] = (18, 0x33)
    v[16] = (17, CODE + seed)
    v[19] = (20, STACK + 0x1800)
    return v + [(28, mode)]


def fpregs(avx=True):
    f = [(1, 0x37f), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0x1f80),
         (8, 0xffff)]
    f += [(9, 100 + i) for i in range(32)] + [(10, 200 + i) for i in range(64)]
    if avx:
        f.append((13, [(1, 7)] + [(2, 300 + i) for i in range(64)]))
    return f


def siginfo(n):
    return [(1, [(1, bytes([n]) + bytes(127))])]


def creds(uid):
    return [(i, uid + i) for i in range(1, 9)] + [(13, 0)]


def thread_core(uid=1000, **kw):
    f = [(1, 0), (2, 0), (3, 9)]        # nice -5, zigzag
    if 'blocked' in kw:
        f.append((6, kw['blocked']))
    f += [(9, siginfo(10)), (10, creds(uid))]
    if 'comm' in kw:
        f.append((13, kw['comm']))
    return f


def arm64(seed):
    """thread_info_aarch64"""
    regs = [(1, seed + i) for i in range(31)]
    regs += [(2, STACK + 0x1800), (3, CODE + seed), (4, 0x80001000)]
    fp = [(1, 500 + i << 32 | seed) for i in range(64)]
    fp += [(2, 0x10), (3, 0x3000000)]
    keys = [(6, [(i, seed * 16 + i) for i in range(1, 10)]),
            (7, [(1, seed * 32), (2, seed * 32 + 1)])]
    return [(1, 0), (2, 0xffff00000000 + seed), (3, regs), (4, fp), (5, keys)]


def core(seed, tc=None, mtype=None, **kw):
    mtype = MTYPE if mtype is None else mtype
    f = [(1, mtype)]
    if mtype == 3:
        f.append((8, arm64(seed)))
    else:
        f.append((2, [(1, 0), (2, gpregs(seed, kw.get('mode', 1))),
                      (3, fpregs(kw.get('avx', True)))]))
    if tc:
        f.append((3, tc))
    f.append((5, thread_core(**{k: v for k, v in kw.items()
                                if k in ('uid', 'blocked', 'comm')})))
    return f


def task(state=1, comm='prog', **kw):
    return [(1, state), (2, kw.get('code', 0)), (3, 0), (4, 0x400000),
            (5, 0x11), (6, comm), (10, siginfo(12)), (14, -17 & (1 << 64) - 1)]


def pages_of(entries, tag):
    return b''.join(page('%s %x' % (tag, e[0][1] + k * PAGE))
                    for e in entries if present(e)
                    for k in range(count(e)))


def count(e):
    d = dict(e)
    return d.get(5, d[2])


def present(e):
    d = dict(e)
    return bool(d.get(4, 0 if d.get(3) else 4) & 4)


def lz4(d):
    """One block of LZ4: literals and matches, the last 5 bytes literal."""
    def length(n):
        return b'' if n < 15 else b'\xff' * ((n - 15) // 255) + bytes(
            [(n - 15) % 255])
    out, last, done, i = b'', {}, 0, 0
    while i + 12 <= len(d):
        j = last.get(d[i:i + 4])
        last[d[i:i + 4]] = i
        if j is None or i - j > 65535:
            i += 1
            continue
        n = 4
        while i + n < len(d) - 5 and d[j + n] == d[i + n]:
            n += 1
        out += bytes([min(i - done, 15) << 4 | min(n - 4, 15)])
        out += length(i - done) + d[done:i] + struct.pack('<H', i - j)
        out += length(n - 4)
        i = done = i + n
    n = len(d) - done
    return out + bytes([min(n, 15) << 4]) + length(n) + d[done:]


class Images:
    """A directory of images, by name; each case changes some of them."""

    def __init__(self, form='both'):
        self.f = {}
        self.pid(form)
        self.shared(form)
        self.f['inventory.img'] = image('inventory', [(1, 2), (2, 1)])
        self.f['pstree.img'] = image(
            'pstree', [(1, 7), (2, 0), (3, 7), (4, 7), (5, 7), (5, 8)],
            [(1, 9), (2, 7), (3, 7), (4, 7), (5, 77777)])
        self.f['core-9.img'] = image('core', [(1, MTYPE), (3, [
            (1, 2), (2, 1792), (3, 0), (4, 0), (5, 0), (6, 'dead')])])
        self.f['files.img'] = image(
            'files', reg(1, '/no/such/program', mode=0o100755),
            reg(2, '/home/ann', mode=0o40755), reg(3, '/', mode=0o40755),
            reg(4, '/tmp/log', flags=0x8401, pos=77, mode=0o100644),
            [(1, 2), (2, 5), (18, [(1, 5), (2, 5555), (3, 1), (4, FOWN)])],
            [(1, 18), (2, 6), (20, [(1, 6), (2, 2), (3, 5), (4, FOWN),
                                    (5, 1)])],
            [(1, 18), (2, 7), (20, [(1, 7), (2, 2), (3, 0), (4, FOWN),
                                    (5, 2)])],
            reg(8, '/no/such/library.so', mode=0o100644),
            [(1, 6), (2, 9), (8, [(1, 9), (2, 2), (3, FOWN), (4, 0)])],
            [(1, 4), (2, 10), (4, [(1, 10), (2, 4444), (3, 2)])],
            reg(11, '/dev/pts/3', flags=0x8002, mode=0o20620),
            reg(13, '/dev/net/tun', flags=0x8802, mode=0o20666),
            [(1, 15), (2, 13), (11, [(1, 13), (2, 'snap0')])],
            [(1, 11), (2, 12), (19, [(1, 12), (2, 1), (3, 0x8002), (4, FOWN),
                                     (6, 11)])])
        self.f['memfd.img'] = image(
            'memfd', [(1, 'my mem'), (2, 0), (3, 0), (4, 8 * PAGE), (5, 61),
                      (6, 0), (7, 1)],
            [(1, '/dev/zero'), (2, 0), (3, 0), (4, 4 * PAGE), (5, 62), (6, 0),
             (7, 2)])
        self.f['seccomp.img'] = image('seccomp', b'\0\0\0\0')
        self.f['pipes-data.img'] = image(
            'pipes-data', [(1, 5555), (2, 5)]) + b'hello'
        self.f['ghost-file-1f.img'] = bytes(range(256))
        self.f['stats-dump'] = b'numbers'
        self.f['dump.log'] = b'not an image'

    def pid(self, form):
        self.f['core-7.img'] = image('core', core(1000, task()))
        self.f['core-8.img'] = image('core', core(
            2000, blocked=0x22, comm='worker', avx=False))
        self.f['ids-7.img'] = image('ids', [(1, 7), (2, 70), (3, 7), (4, 7)])
        self.f['fs-7.img'] = image('fs', [(1, 2), (2, 3), (3, 0o27)])
        self.f['fdinfo-70.img'] = image(
            'fdinfo', [(1, 5), (2, 1), (3, 2), (4, 5)],
            [(1, 4), (2, 0), (3, 1), (4, 1)],
            [(1, 4), (2, 0), (3, 1), (4, 2)],
            [(1, 6), (2, 0), (3, 18), (4, 7)],
            [(1, 12), (2, 0), (3, 11), (4, 0)],
            [(1, 9), (2, 0), (3, 6), (4, 8)],
            [(1, 10), (2, 0), (3, 4), (4, 9)],
            [(1, 13), (2, 0), (3, 15), (4, 10)])
        self.vmas = [
            vma(CODE, CODE + 3 * PAGE, 0x41, 5, 2, 1),
            vma(DATA, DATA + 2 * PAGE, 0x41, 3, 2, 1, 3 * PAGE),
            vma(HEAP, HEAP + 8 * PAGE, 0x221),
            vma(ANON, ANON + 16 * PAGE, 0x201),
            vma(SHM, SHM + 2 * PAGE, 0x4081, 3, 1, 7, PAGE),
            vma(MEMFD, MEMFD + 4 * PAGE, 0x4081, 3, 1, 6, 4 * PAGE),
            vma(LIB, LIB + 2 * PAGE, 0x41, 1, 2, 8),
            vma(VVAR, VVAR + 4 * PAGE, 0x1201, 1),
            vma(VVAR + 4 * PAGE, VVAR + 6 * PAGE, 0x209, 5),
            vma(STACK, STACK + 4 * PAGE, 0x201, 3, 0x122)]
        if MTYPE == 1:
            self.vmas.append(vma(0xffffffffff600000, 0xffffffffff601000,
                                 0x204, 4))
        self.mm()
        self.entries = [
            entry(CODE, 1, 4, form), entry(DATA, 2, 4, form),
            entry(HEAP, 3, 6, form), entry(HEAP + 5 * PAGE, 1, 6, form),
            entry(ANON + PAGE, 10, 6, form),
            entry(VVAR + 4 * PAGE, 2, 4, form),
            entry(STACK + PAGE, 3, 6, form)]
        self.pagemap()

    def mm(self, **kw):
        d = dict(enumerate([CODE, CODE + PAGE, DATA, DATA + PAGE,
                            STACK + PAGE + 0x800, HEAP, HEAP + 8 * PAGE - 16,
                            STACK + 2 * PAGE, STACK + 2 * PAGE + 0x10,
                            STACK + 2 * PAGE + 0x10, STACK + 2 * PAGE + 0x40,
                            1], 1))
        d.update(kw.get('set', {}))
        f = sorted(d.items()) + [(13, v) for v in (33, 5, 6, PAGE, 0, 0)]
        self.f['mm-7.img'] = image('mm', f + [(14, v) for v in self.vmas] +
                                   [(15, 1)])

    def pagemap(self, tag='p', pages_id=3):
        self.f['pagemap-7.img'] = image('pagemap', [(1, pages_id)],
                                        *self.entries)
        b = bytearray(pages_of(self.entries, tag))
        at = 0
        for e in self.entries:      # arguments; a page of zeros
            a = e[0][1]
            if present(e):
                if a == STACK + PAGE:
                    p = at + PAGE
                    b[p:p + 64] = b'prog\0-x\0two arg\0PATH=/bin\0A=b'.ljust(
                        64, b'\0')
                if a == HEAP and count(e) > 1:
                    b[at + PAGE:at + 2 * PAGE] = bytes(PAGE)
                at += count(e) * PAGE
        if b:
            self.f['pages-%d.img' % pages_id] = bytes(b)

    def compress(self, name, per):
        """Compress the pages of a pagemap, per of them in a block."""
        it = self.f[name]
        at, head, entries = 8, None, []
        while at < len(it):
            n, = struct.unpack('<I', it[at:at + 4])
            entries.append(fields(it[at + 4:at + 4 + n]))
            at += 4 + n
        head = entries.pop(0)
        pages = 'pages-%d.img' % head[0][1]
        data, out, at = self.f[pages], b'', 0
        for i, e in enumerate(entries):
            if not present(e):
                continue
            n = count(e)
            mem = data[at:at + n * PAGE]
            at += n * PAGE
            if i == 3:          # an entry of raw pages, aligned
                d = dict(e)
                entries[i] = [(k, v | 8 if k == 4 else v)
                              for k, v in d.items()]
                out += bytes(-len(out) % PAGE) + mem
                continue
            sizes = []
            for k in range(0, n, per):
                raw = mem[k * PAGE:(k + per) * PAGE]
                b = lz4(raw)
                if not any(raw):
                    b = b''
                elif i == 0 or i == 2 and k + per >= n: # not compressed
                    b = raw
                sizes.append(len(b))
                out += b
            entries[i] = e + [(6, [(1, b''.join(map(varint, sizes))),
                                   (2, sum(sizes)), (3, per)])]
        self.f[name] = image('pagemap', head, *entries)
        self.f[pages] = out

    def shared(self, form):
        for i, e in ((61, [entry(4 * PAGE, 1, 4, form),
                           entry(6 * PAGE, 2, 4, form)]),
                     (62, [entry(0, 3, 4, form)])):
            self.f['pagemap-shmem-%d.img' % i] = image(
                'pagemap', [(1, i - 60)], *e)
            self.f['pages-%d.img' % (i - 60)] = pages_of(e, 's%d' % i)

    def write(self, path):
        os.makedirs(path, exist_ok=True)
        for name, data in self.f.items():
            if data is not None:
                with open(os.path.join(path, name), 'wb') as f:
                    f.write(data)


CASES = {}


def case(fn):
    CASES[fn.__name__] = fn
    return fn


for _form in 'both', 'old', 'new':
    CASES[_form] = lambda path, form=_form: Images(form).write(path)


@case
def arm4(path):
    """arm64."""
    layout(3, 4096)
    Images().write(path)
    layout(1, 4096)


@case
def arm64k(path):
    """arm64 with pages of 64 KB."""
    layout(3, 65536)
    Images().write(path)
    layout(1, 4096)


@case
def arm64kupon(path):
    """arm64 with pages of 64 KB, some of them in a parent."""
    layout(3, 65536)
    im = Images()
    im.write(os.path.join(path, '1'))
    im.entries[4] = entry(ANON + PAGE, 4, 6)
    im.entries.insert(5, entry(ANON + 5 * PAGE, 6, 1))
    im.pagemap('two')
    d = os.path.join(path, '2')
    im.write(d)
    os.symlink('../1', os.path.join(d, 'parent'))
    layout(1, 4096)


@case
def bare(path):
    """Entries without flags, if the flags are the default ones."""
    im = Images()
    im.entries = [entry(e[0][1], count(e), 4, 'bare') if dict(e)[4] == 4
                  else e for e in im.entries]
    im.pagemap()
    im.write(path)


@case
def stack(path):
    """Directories 1 to 4, each with a parent but 1; other entries in each."""
    one = Images()
    one.entries = [entry(CODE, 1), entry(DATA, 2), entry(HEAP, 8, 6),
                   entry(ANON, 4, 6), entry(ANON + 4 * PAGE, 12, 6),
                   entry(VVAR + 4 * PAGE, 2), entry(STACK + PAGE, 3, 6)]
    one.pagemap('one')
    two = Images()
    two.entries = [entry(CODE, 1), entry(DATA, 2, 0, 'ancient'),
                   entry(HEAP, 2, 6), entry(HEAP + 2 * PAGE, 6, 1),
                   entry(ANON, 6, 1), entry(ANON + 6 * PAGE, 2, 6),
                   entry(ANON + 8 * PAGE, 8, 1),
                   entry(VVAR + 4 * PAGE, 2), entry(STACK + PAGE, 3, 1)]
    two.pagemap('two')
    three = Images()
    three.entries = [entry(CODE, 1, 1), entry(DATA, 2, 1),
                     entry(HEAP, 8, 1), entry(ANON + PAGE, 12, 1),
                     entry(ANON + 13 * PAGE, 1, 6),
                     entry(VVAR + 4 * PAGE, 2), entry(STACK + PAGE, 3, 1)]
    three.pagemap('three')
    four = Images()
    four.entries = [entry(CODE, 1, 1), entry(DATA, 1, 6),
                    entry(DATA + PAGE, 1, 1), entry(HEAP + PAGE, 5, 1),
                    entry(ANON + 2 * PAGE, 9, 1),
                    entry(ANON + 11 * PAGE, 1, 6),
                    entry(ANON + 12 * PAGE, 2, 1),
                    entry(VVAR + 4 * PAGE, 2, 4), entry(STACK + PAGE, 3, 1)]
    four.pagemap('four')
    for i, im in enumerate((one, two, three, four), 1):
        d = os.path.join(path, str(i))
        im.write(d)
        if i > 1:
            os.symlink('../%d' % (i - 1), os.path.join(d, 'parent'))
    # in a parent only pagemaps and pages are needed
    for name in 'inventory.img', 'pstree.img', 'core-7.img':
        os.unlink(os.path.join(path, '1', name))


@case
def large(path):
    """More pages than snapload copies at once."""
    im = Images()
    im.vmas[3] = vma(ANON, ANON + 230 * PAGE, 0x201)
    im.mm()
    im.entries[4] = entry(ANON, 230, 6)
    im.pagemap()
    im.write(path)


def compressed(path, per, **kw):
    """Write images of version 3, with compressed pages."""
    im = Images()
    im.f['inventory.img'] = image('inventory', [
        (1, 3), (2, 1), (15, kw.get('how', 1)), (16, per * PAGE)])
    for name in 'pagemap-7', 'pagemap-shmem-61', 'pagemap-shmem-62':
        im.compress(name + '.img', per)
    for name, change in kw.get('change', {}).items():
        im.f[name] = change(im.f[name])
    im.write(path)


for _n in 1, 2, 4, 1024:
    CASES['lz4-%d' % _n] = lambda path, n=_n: compressed(
        path, n, how=2 if n == 2 else 1)


@case
def lz4pages(path):
    """The images of lz4-4, uncompressed."""
    Images().write(path)


@case
def lz4upon(path):
    """2 is compressed, its parent 1 is not; 3 is not, and its parent is 2."""
    Images().write(os.path.join(path, '1'))
    for i in 2, 3:
        im = Images()
        im.entries[4] = entry(ANON + PAGE, 4, 6)
        im.entries.insert(5, entry(ANON + 5 * PAGE, 6, 1))
        im.pagemap('two')
        if i == 2:
            im.compress('pagemap-7.img', 3)
        d = os.path.join(path, str(i))
        im.write(d)
        os.symlink('../%d' % (i - 1), os.path.join(d, 'parent'))


@case
def lazy(path):
    im = Images()
    im.entries[4] = entry(ANON + PAGE, 10, 2)
    im.pagemap()
    im.write(path)


@case
def guard(path):
    im = Images()
    im.vmas.append(vma(ANON + 12 * PAGE, ANON + 14 * PAGE, 1 << 16, 0, 0))
    im.mm()
    im.write(path)


@case
def compat(path):
    im = Images()
    im.f['core-7.img'] = image('core', core(1000, task(), mode=2))
    im.write(path)


def shared(path, status):
    """Shared memory that is not in files.img."""
    im = Images()
    im.vmas[4] = vma(SHM, SHM + 4 * PAGE, status, 3, 0x21, 62)
    im.mm()
    im.write(path)


@case
def oldshm(path):
    """Shared memory as old versions of criu record it."""
    shared(path, 0x101)


@case
def sysv(path):
    """System V shared memory."""
    shared(path, 0x501)


@case
def loop(path):
    im = Images()
    im.entries[0] = entry(CODE, 1, 1)
    im.pagemap()
    im.write(path)
    os.symlink('.', os.path.join(path, 'parent'))


def bad(name, **kw):
    def make(path):
        im = Images()
        for key, val in kw.items():
            key = key.replace('__', '.').replace('_', '-')
            im.f[key] = val(im) if callable(val) else val
        im.write(path)
    CASES[name] = make


def cut(name, n):
    return lambda im: im.f[name][:n]


for _n in ('inventory', 'pstree', 'files', 'core-7', 'core-8', 'core-9',
           'ids-7', 'mm-7', 'fs-7', 'pagemap-7', 'pages-3',
           'pagemap-shmem-62'):
    bad('no-' + _n, **{_n.replace('-', '_') + '__img': None})
for _v in 0, 1, 9:
    bad('version-%d' % _v, inventory__img=image('inventory', [(1, _v)]))
bad('magic', mm_7__img=lambda im: b'\x19CVT\x00\x00\x00\x00' +
    im.f['mm-7.img'][8:])
bad('words', core_7__img=b'abc')
bad('inventory-common', inventory__img=lambda im: struct.pack('<I', COMMON) +
    im.f['inventory.img'])
bad('cut-frame', files__img=cut('files.img', -3))
bad('cut-length', pstree__img=lambda im: im.f['pstree.img'] + b'\1\0')
bad('cut-message', core_7__img=lambda im: im.f['core-7.img'][:8] +
    frame(im.f['core-7.img'][12:-9]))
bad('short', pages_3__img=cut('pages-3.img', -PAGE))
bad('odd', pages_3__img=lambda im: im.f['pages-3.img'] + b'x')
# the number of the pages image takes more bytes than those that we write
bad('pages-id', pagemap_7__img=image('pagemap', [(1, 300)]))
bad('machine', core_7__img=image('core', core(1, task(), mtype=4)))
bad('no-tc', core_7__img=image('core', core(1)))
bad('no-regs', core_8__img=image('core', [(1, 1), (5, thread_core())]))
bad('state', core_7__img=image('core', core(1, task(6))))
bad('twice', pstree__img=lambda im: im.f['pstree.img'] + frame(
    [(1, 8), (2, 7), (3, 7), (4, 7), (5, 8)]))
bad('zero-pid', pstree__img=image('pstree', [(1, 0), (2, 0), (3, 7), (4, 7)]))
bad('no-process', pstree__img=image('pstree'))
bad('no-file', fdinfo_70__img=image(
    'fdinfo', [(1, 444), (2, 0), (3, 1), (4, 1)]))
bad('file-twice', files__img=lambda im: im.f['files.img'] +
    frame(reg(3, '/x')))
bad('st', core_7__img=lambda im: image('core', [
    (1, 1), (2, [(1, 0), (2, gpregs(1)), (3, [f for f in fpregs()
                                              if f != (9, 131)])]),
    (3, task()), (5, thread_core())]))


def bad_entries(name, *entries):
    def make(path):
        im = Images()
        im.f['pagemap-7.img'] = image('pagemap', [(1, 3)], *entries)
        im.write(path)
    CASES[name] = make


bad_entries('no-parent', entry(CODE, 1), entry(DATA, 1, 1))
bad_entries('both-flags', entry(CODE, 1, 5))
bad_entries('no-flags', entry(CODE, 1, 0))
bad_entries('high-flags', entry(CODE, 1, 20))
bad_entries('aligned-parent', entry(CODE, 1, 9))


def bad_blocks(name, sizes, total, per, n=2, more=()):
    bad_entries('blocks-' + name, entry(CODE, n) + [
        (6, [(1, b''.join(map(varint, sizes))), (2, total), (3, per)]), *more])


bad_entries('blocks', entry(CODE, 1) + [(6, b'\x08\x01')])
bad_entries('blocks-lazy', entry(CODE, 1, 2) + [(6, [(2, 0), (3, 1)])])
bad_blocks('few', [7], 7, 1)
bad_blocks('many', [7, 7], 14, 2)
bad_blocks('large', [77, PAGE + 1], PAGE + 78, 1)
bad_blocks('small', [77, 16], 93, 1)
bad_blocks('total', [77, 77], 155, 1)
bad_blocks('none', [7, 7], 14, 0)
bad_blocks('huge', [7], 7, 1025)
bad_blocks('older', [7, 7], 14, 1, 2, [(7, 14)])
# 4 GiB of zeros, and a page
bad_blocks('zeros', [0] * 1024 + [77], 77, 1024, (1 << 20) + 1)
CASES['blocks-how'] = lambda path: compressed(path, 1, how=3)
CASES['blocks-cut'] = lambda path: compressed(path, 4, change={
    'pages-3.img': lambda b: b[:-1]})
CASES['blocks-noise'] = lambda path: compressed(path, 4, change={
    'pages-3.img': lambda b: b[:3 * PAGE] + b'\xff' * (len(b) - 3 * PAGE)})
bad_entries('entry-unknown', entry(CODE, 1) + [(9, 1)])
bad_entries('blocks-unknown', entry(CODE, 1) + [
    (6, [(1, b'\0'), (2, 0), (3, 1), (4, 7)])])
# unknown fields, as later versions of criu may have; one in a nested message
def sas(core, **kw):
    return image('core', core[:-1] + [(5, thread_core(**kw) + [
        (7, [(1, 0), (2, 0), (3, 0), (99, 5)])])])


bad('unknown', fs_7__img=image('fs', [(1, 2), (2, 3), (99, 1), (100, 'x')]),
    core_7__img=sas(core(1000, task())), core_8__img=sas(core(2000),
        blocked=0x22, comm='worker'))
bad_entries('unaligned', entry(CODE + 1, 1))
bad_entries('descending', entry(DATA, 1), entry(CODE, 1))
bad_entries('overlapping', entry(CODE, 2), entry(CODE + PAGE, 1))
bad_entries('huge', entry(CODE, 1 << 60))
bad_entries('endless', entry(CODE, 1 << 51), entry(1 << 63, 1 << 50))


def bad_vmas(name, *more, **kw):
    def make(path):
        im = Images()
        im.vmas[kw.get('at', 0):kw.get('at', 0) + 1] = more
        im.mm(**kw)
        im.write(path)
    CASES[name] = make


bad_vmas('vma-order', vma(DATA, DATA + PAGE, 0x201), vma(CODE, CODE + PAGE,
                                                         0x201))
bad_vmas('vma-empty', vma(CODE, CODE, 0x201))
bad_vmas('vma-unaligned', vma(CODE, CODE + 5, 0x201))
bad_vmas('vma-file', vma(CODE, CODE + PAGE, 0x41, 5, 2, 999))
bad_vmas('vma-shm', vma(CODE, CODE + 2 * PAGE, 0x101, 3, 0x21, 999))
bad_vmas('no-exe', vma(CODE, CODE + PAGE, 0x201), set={12: 999})


@case
def many_shm(path):
    """1100 mappings of an object with 4096 runs of pages."""
    im = Images()
    im.f['pagemap-shmem-62.img'] = image('pagemap', [(1, 2)], *[
        entry(2 * i * PAGE, 1, 2) for i in range(4096)])
    im.vmas = [vma(CODE, CODE + PAGE, 0x41, 5, 2, 1)]
    im.vmas += [vma(a, a + 8192 * PAGE, 0x101, 3, 0x21, 62) for a in
                range(1 << 30, (1 << 30) + 1100 * 8192 * PAGE, 8192 * PAGE)]
    im.entries = [entry(CODE, 1)]
    im.mm()
    im.pagemap()
    im.write(path)


@case
def many_fds(path):
    """40 processes with the same 8000 descriptors."""
    im = Images()
    im.f['fdinfo-70.img'] = image('fdinfo', *[
        [(1, 4), (2, 0), (3, 1), (4, i)] for i in range(8000)])
    for pid in range(100, 140):
        im.f['pstree.img'] += frame([(1, pid), (2, 7), (3, 7), (4, 7),
                                     (5, pid)])
        for name in 'core', 'ids', 'fs', 'mm', 'pagemap':
            im.f['%s-%d.img' % (name, pid)] = im.f[name + '-7.img']
    im.write(path)


def elf(path, one, two):
    """The executable is an existing ELF file; two has another build ID."""
    with open(path, 'rb') as f:
        b = f.read()
    order = '<' if b[5] == 1 else '>'
    at = b.index(struct.pack(order + '3I', 4, 20, 3) + b'GNU\0') + 16
    for out, k in (one, 0), (two, 1):
        im = Images()
        words = list(struct.unpack('<5I', b[at:at + 20]))
        words[4] ^= k
        exe = reg(1, path, mode=0o100755)
        exe[2][1].append((8, len(b)))
        exe[2][1].extend((11, w) for w in words)
        rest = im.f['files.img'][8:]
        n, = struct.unpack('<I', rest[:4])
        im.f['files.img'] = image('files', exe) + rest[4 + n:]
        im.write(out)


# the same order as in tests/fuzz/fuzz_criu.c
NAMES = ['inventory.img', 'pstree.img', 'core-7.img', 'core-8.img',
         'core-9.img', 'ids-7.img', 'mm-7.img', 'fs-7.img', 'fdinfo-70.img',
         'files.img', 'memfd.img', 'pagemap-7.img', 'pages-3.img',
         'pagemap-shmem-61.img', 'pages-1.img', 'pagemap-shmem-62.img',
         'pages-2.img', 'parent/pagemap-7.img', 'parent/pages-3.img',
         'parent/pagemap-shmem-61.img', 'seccomp.img', 'dump.log']


def pack(path, out):
    """Write an input for the fuzzer; of pages only their number is kept."""
    b = b''
    for i, n in enumerate(NAMES):
        try:
            with open(os.path.join(path, n), 'rb') as f:
                data = f.read()
        except OSError:
            continue
        if 'pages-' in n and len(data) % PAGE == 0:
            b += struct.pack('<BH', i | 128, len(data) // PAGE)
        else:
            b += struct.pack('<BH', i, len(data)) + data
    with open(out, 'wb') as f:
        f.write(b)


# reading, to compare

def fields(b):
    out = []
    i = 0

    def num():
        nonlocal i
        v = s = 0
        while True:
            c = b[i]
            i += 1
            v |= (c & 127) << s
            s += 7
            if c < 128:
                return v
    while i < len(b):
        t = num()
        if t & 7 == 0:
            out.append((t >> 3, num()))
        else:
            n = num()
            out.append((t >> 3, b[i:i + n]))
            i += n
    return out


def frames(path):
    with open(path, 'rb') as f:
        b = f.read()
    assert struct.unpack('<II', b[:8]) == (COMMON, MAGIC['pagemap']), path
    at = 8
    while at < len(b):
        n, = struct.unpack('<I', b[at:at + 4])
        yield fields(b[at + 4:at + 4 + n])
        at += 4 + n
    assert at == len(b), path


def memory(path, name):
    """Return address -> (flags, page), with the pages of parents."""
    it = frames(os.path.join(path, name))
    pages_id = next(it)[0][1]
    out = {}
    parent = None
    data = None
    at = 0
    last = 0
    for e in it:
        d = dict(e)
        flags = d.get(4, 1 if d.get(3) else 4) | (1 if d.get(3) else 0)
        assert d[1] >= last, 'descending'
        last = d[1] + count(e) * PAGE
        for k in range(count(e)):
            a = d[1] + k * PAGE
            if flags & 1:
                if parent is None:
                    parent = memory(os.path.join(path, 'parent'), name)
                out[a] = parent[a]
            elif flags & 4:
                if data is None:
                    data = open(os.path.join(path, 'pages-%d.img' % pages_id),
                                'rb').read()
                    assert len(data) % PAGE == 0
                out[a] = (flags, data[at:at + PAGE])
                at += PAGE
            else:
                out[a] = (flags, None)
    assert data is None or at == len(data), 'pages too many or few'
    return out


def pagesize(path):
    """Return AT_PAGESZ of the auxiliary vector of process 7."""
    try:
        with open(os.path.join(path, 'mm-7.img'), 'rb') as f:
            b = f.read()
    except FileNotFoundError:
        return 4096
    n, = struct.unpack('<I', b[8:12])
    v = [v for k, v in fields(b[12:12 + n]) if k == 13]
    return dict(zip(v[::2], v[1::2])).get(6, 4096)


def same(a, b):
    global PAGE
    PAGE = pagesize(a)
    skip = re.compile(r'pages-.*|.*\.log|parent')
    names = [sorted(n for n in os.listdir(d) if not skip.match(n))
             for d in (a, b)]
    assert names[0] == names[1], names
    for n in names[0]:
        if n.startswith('pagemap-'):
            x, y = memory(a, n), memory(b, n)
            assert sorted(x) == sorted(y), n
            for k in x:
                assert x[k] == y[k], '%s %x' % (n, k)
        else:
            x, y = (open(os.path.join(d, n), 'rb').read() for d in (a, b))
            assert x == y, n


if __name__ == '__main__':
    if sys.argv[1:2] == ['make'] and len(sys.argv) == 4:
        CASES[sys.argv[2]](sys.argv[3])
    elif sys.argv[1:2] == ['all'] and len(sys.argv) == 3:
        for name, make in CASES.items():
            make(os.path.join(sys.argv[2], name))
    elif sys.argv[1:2] == ['elf'] and len(sys.argv) == 5:
        elf(*sys.argv[2:])
    elif sys.argv[1:2] == ['pack'] and len(sys.argv) == 4:
        pack(*sys.argv[2:])
    elif sys.argv[1:2] == ['same'] and len(sys.argv) >= 4:
        for a, b in zip(sys.argv[2::2], sys.argv[3::2]):
            same(a, b)
    else:
        sys.exit(__doc__)
