#!/usr/bin/env python3
"""Make and read compressed images, without the library.

packed.py make DIR [N]        write images that are not compressed, with runs of
                              pages of each kind; with N, every Nth page is
                              different
packed.py zeros DIR BYTES     write compressed images of BYTES of zeros
packed.py check DIR PLAIN     check each rule of compressed images in DIR and
                              its parents, and that the memory is that of PLAIN;
                              print for each entry of pagemap-7.img and of the
                              huge pages the number of pages, and a letter for
                              each block: z zeros, c compressed, r raw; "raw" if
                              it has no blocks, "parent" if it has no pages, and
                              "at page" if it begins with raw pages
"""
import os
import random
import struct
import sys

from criuasm import Images, PAGE, entry, frame, image, page, varint, vma
from imgread import wire

BLOCK = 64 * PAGE
RUNS = 0x10000000
SHARED = 0x40000000


def noise(n):
    return random.Random(n).randbytes(n * PAGE)


def text(n):
    return b''.join(page('text %d ' % i) for i in range(n))


def runs():
    """Yield runs of pages; a page that is not mapped follows each of them."""
    zeros = bytes(64 * PAGE)
    yield from (text(n) for n in (1, 63, 64, 65))
    yield 2 * zeros + bytes(PAGE)
    yield noise(1)
    yield noise(70)
    yield noise(64) + text(1)
    yield text(64) + noise(64)
    yield zeros + noise(64) + text(2)
    yield zeros[PAGE:] + b'x' * PAGE
    yield b'\1' * (64 * PAGE)
    # just enough zeros to save an eighth of a block; and just too few
    yield noise(54) + bytes(10 * PAGE)
    yield noise(57) + bytes(7 * PAGE)


def make(path, every=0):
    im = Images()
    at = RUNS
    own = [e for e in im.entries if dict(e)[4] & 4]
    low = [e for e in own if e[0][1] < RUNS]
    size = sum(dict(e)[5] for e in low) * PAGE
    data = im.f['pages-3.img']
    entries, parts = list(low), [data[:size]]

    def add(run, flags=4):
        nonlocal at
        entries.append(entry(at, len(run) // PAGE, flags))
        parts.append(run)
        at += len(run)

    for run in runs():
        add(run, 6)
        at += PAGE
    im.vmas.append(vma(RUNS, at, 0x201))
    # normal pages, huge pages and pages of a plugin, in one entry
    for n, status, flags in ((4, 0x201, 0x22), (512, 0x201, 0x40022),
                             (4, 0x201, 0x22), (4, 1 << 27 | 0x201, 0x22)):
        im.vmas.append(vma(at, at + n * PAGE, status, flags=flags))
        add(text(n))
    # huge pages of a memfd, and shared ones without a name; both end with zeros
    im.vmas.append(vma(SHARED, SHARED + 512 * PAGE, 0x101, 3, 0x40021, 64))
    im.f['memfd.img'] += frame(
        [(1, 'huge'), (2, 0), (3, 0), (4, 512 * PAGE), (5, 63), (6, 0),
         (7, 3), (8, 4)])
    for i in 63, 64:
        im.f['pagemap-shmem-%d.img' % i] = image(
            'pagemap', [(1, i)], entry(0, 512))
        im.f['pages-%d.img' % i] = text(300) + bytes(212 * PAGE)
    im.vmas.sort(key=lambda v: v[0][1])
    im.mm()
    im.f['pagemap-7.img'] = image('pagemap', [(1, 3)], *entries,
                                  *own[len(low):])
    data = bytearray(b''.join(parts) + data[size:])
    for i in range(0, len(data) if every else 0, (every or 1) * PAGE):
        data[i:i + 8] = b'changed '
    im.f['pages-3.img'] = bytes(data)
    im.write(path)


def zeros(path, size):
    im = Images()
    n = -(-size // (1024 * PAGE))
    im.vmas = [vma(RUNS, RUNS + size, 0x201)]
    im.mm()
    im.entries = [entry(RUNS, size // PAGE) + [
        (6, [(1, varint(0) * n), (2, 0), (3, 1024)])]]
    im.f['pagemap-7.img'] = image('pagemap', [(1, 3)], *im.entries)
    im.f['pages-3.img'] = b''
    im.f['inventory.img'] = image('inventory', [
        (1, 3), (2, 1), (15, 1), (16, 1024 * PAGE)])
    im.write(path)


def longer(b, i):
    """Return the sum of the bytes of a length at i, and where they end."""
    n = 0
    while b[i] == 255:
        n += 255
        i += 1
    return n + b[i], i + 1


def unlz4(b):
    """The bytes of one block of LZ4."""
    out, i = bytearray(), 0
    while True:
        token = b[i]
        more, i = longer(b, i + 1) if token >> 4 == 15 else (0, i + 1)
        end = i + (token >> 4) + more
        assert end <= len(b), 'literals'
        out += b[i:end]
        if end == len(b):
            return bytes(out)
        back = b[end] | b[end + 1] << 8
        n, i = (token & 15) + 4, end + 2
        if n == 19:
            more, i = longer(b, i)
            n += more
        at = len(out) - back
        assert 0 <= at < len(out), 'distance'
        if n <= back:
            out += out[at:at + n]
        else:
            out += (out[at:] * (n // back + 1))[:n]


def messages(path, head):
    with open(path, 'rb') as f:
        b = f.read()[head:]
    while b:
        n, = struct.unpack_from('<I', b)
        yield b[4:4 + n]
        b = b[4 + n:]


def inventory(path):
    return dict(wire(next(messages(path + '/inventory.img', 4))))


def block_sizes(b):
    """Return the sizes, their sum, and the number of pages in a block."""
    d = dict(wire(b))
    assert sorted(d) in ([1, 2, 3], [2, 3]), d
    return list(unpacked(d.get(1, b''))), d[2], d[3]


def unpacked(b):
    value = shift = 0
    for byte in b:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def decode(raw, at, sizes, total, length):
    """Decode blocks from at: memory, letters, whether the first is raw, end."""
    out, letters, first = [], '', None
    for i, size in enumerate(sizes):
        n = min(BLOCK, length - i * BLOCK)
        assert n > 0, 'too many blocks'
        payload = raw[at:at + size]
        assert len(payload) == size, 'cut'
        at += size
        letter = 'z' if size == 0 else 'r' if size == n else 'c'
        mem = bytes(n) if size == 0 else payload
        if letter == 'c':
            assert size < n * 7 // 8, 'little is saved'
            mem = unlz4(payload)
        assert len(mem) == n, 'length'
        assert (mem != bytes(n)) == (size != 0), 'zeros'
        if first is None and size != 0:
            first = letter
        letters += letter
        out.append(mem)
    assert sum(map(len, out)) == length and sum(sizes) == total, 'sums'
    assert set(letters) != {'r'}, 'raw blocks only'
    return b''.join(out), letters, first == 'r', at


def memory(path, name, packed):
    """Return pages by address, and a line for each entry."""
    m = messages(os.path.join(path, name), 8)
    pages = 'pages-%d.img' % dict(wire(next(m)))[1]
    with open(os.path.join(path, pages), 'rb') as f:
        raw = f.read()
    out, lines, at, up = {}, [], 0, None
    for e in m:
        d = dict(wire(e))
        length, flags = d[5] * PAGE, d[4]
        if not flags & 4:
            assert 6 not in d and flags == 1, flags
            up = up or memory(path + '/parent', name, inventory(
                path + '/parent').get(15))[0]
            for a in range(d[1], d[1] + length, PAGE):
                out[a] = up[a]
            lines.append('%d parent' % d[5])
            continue
        assert flags & ~10 == 4, flags
        if flags & 8:
            end = -(-at // PAGE) * PAGE
            assert packed and not any(raw[at:end]), 'padding'
            at = end
        if 6 in d:
            sizes, total, per = block_sizes(d[6])
            assert packed and per * PAGE == BLOCK, per
            mem, letters, aligned, at = decode(raw, at, sizes, total, length)
            assert aligned == (flags & 8 == 8), 'aligned'
            lines.append('%d %s%s' % (d[5], letters, ' at page' * aligned))
        else:
            mem = raw[at:at + length]
            at += length
            assert flags & 8 == 8 * bool(packed), 'raw pages'
            lines.append('%d raw' % d[5])
        assert len(mem) == length, 'length'
        for i in range(0, length, PAGE):
            assert d[1] + i not in out
            out[d[1] + i] = mem[i:i + PAGE]
    assert at == len(raw), 'size of %s' % pages
    return out, lines


def check(path, plain):
    inv = inventory(path)
    assert (inv[1], inv[15], inv[16]) == (3, 1, BLOCK), inv
    assert inventory(plain)[1] == 2 and 15 not in inventory(plain)
    names = [sorted(n for n in os.listdir(d) if not n.startswith('pages-') and
                    n != 'parent') for d in (path, plain)]
    assert names[0] == names[1], names
    for n in names[0]:
        if n.startswith('pagemap-'):
            x, lines = memory(path, n, True)
            y, _ = memory(plain, n, False)
            assert x.keys() == y.keys(), n
            for a in x:
                assert x[a] == y[a], '%s %x' % (n, a)
            if n == 'pagemap-7.img' or n in ('pagemap-shmem-63.img',
                                             'pagemap-shmem-64.img'):
                print('\n'.join(lines))
        elif n != 'inventory.img':
            x, y = (open(os.path.join(d, n), 'rb').read()
                    for d in (path, plain))
            assert x == y, n


if __name__ == '__main__':
    if sys.argv[1:2] == ['make']:
        make(sys.argv[2], *map(int, sys.argv[3:]))
    elif sys.argv[1:2] == ['zeros']:
        zeros(sys.argv[2], int(sys.argv[3]))
    elif sys.argv[1:2] == ['check']:
        check(*sys.argv[2:])
    else:
        sys.exit(__doc__)
