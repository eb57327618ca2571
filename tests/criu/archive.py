#!/usr/bin/env python3
"""Make archives of a directory of CRIU images, as container engines do.

archive.py make FORM DIR FILE   archive the images in DIR
archive.py cut FILE DIR         copies truncated within and between members
archive.py flip FILE DIR        copies with one byte of a header changed

Forms: podman (as "podman container checkpoint -e" writes it), pax and gnu (the
same, with names that need extended headers), top (no folder for the images),
dot (as "tar -C DIR .": names begin with "./"), stack (the parent of DIR is
DIR/../3, its parent is DIR/../2, and so on), out, absolute, around (the link to
the parent leads out of the archive, is absolute, or forms a loop), late (a
member is there twice), huge (a size of 2^62), sparse, hard, link (the pages
images are not regular files), none and two (so many checkpoints).
"""
import io
import os
import sys
import tarfile

FORMAT = {'pax': tarfile.PAX_FORMAT, 'gnu': tarfile.GNU_FORMAT}


def member(tar, name, data=b'', kind=tarfile.REGTYPE, link=''):
    m = tarfile.TarInfo(name)
    m.size = len(data)
    m.mtime = 1735689600
    m.type = kind
    m.linkname = link
    tar.addfile(m, io.BytesIO(data))


def files(tar, at, path, pages=tarfile.REGTYPE):
    member(tar, at.rstrip('/') or '.', kind=tarfile.DIRTYPE)
    for name in sorted(os.listdir(path)):
        full = os.path.join(path, name)
        if os.path.isdir(full):
            continue
        with open(full, 'rb') as f:
            data = f.read()
        if pages in (tarfile.LNKTYPE, tarfile.SYMTYPE) and 'pages-' in name:
            member(tar, at + name, kind=pages, link='/etc/passwd')
        elif 'pages-' in name:
            member(tar, at + name, data, pages)
        else:
            member(tar, at + name, data)


def around(tar):
    """Add the other members of podman's archives."""
    member(tar, 'artifacts/resolv.conf', b'nameserver 127.0.0.1\n')
    member(tar, 'config.dump', b'{"id": "3f2a51", "name": "web"}')
    member(tar, 'spec.dump', b'{"ociVersion": "1.0.2"}')
    member(tar, 'rootfs-diff.tar', bytes(3000))


def make(form, path, out):
    with tarfile.open(out, 'w', format=FORMAT.get(
            form, tarfile.USTAR_FORMAT)) as tar:
        if form in ('pax', 'gnu'):
            # extended headers come before the members that they describe
            member(tar, 'volumes/' + 200 * 'long/' + 'name', b'x')
            member(tar, 'a', kind=tarfile.SYMTYPE, link=300 * 'b')
        if form == 'top':
            files(tar, '', path)
        elif form == 'dot':
            files(tar, './', path)
        elif form == 'none':
            around(tar)
        elif form == 'two':
            files(tar, 'a/', path)
            files(tar, 'b/', path)
        else:
            around(tar)
            kind = {'sparse': tarfile.GNUTYPE_SPARSE,
                    'hard': tarfile.LNKTYPE, 'link': tarfile.SYMTYPE}
            if form == 'late':
                member(tar, 'checkpoint/pstree.img', b'of no use')
            files(tar, './checkpoint//' if form == 'late' else 'checkpoint/',
                  path, kind.get(form, tarfile.REGTYPE))
        link = {'stack': './/../below/3', 'out': '../../below/3',
                'around': '../checkpoint', 'absolute': '/below/3'}.get(form)
        if link:
            member(tar, 'checkpoint/parent', kind=tarfile.SYMTYPE, link=link)
        if form == 'stack':
            for n in '1', '2', '3':
                files(tar, 'below/%s/' % n, os.path.join(path, '..', n))
                member(tar, 'below/%s/parent' % n, kind=tarfile.SYMTYPE,
                       link='../%d' % (int(n) - 1))
    if form == 'huge':
        patch(out, 'rootfs-diff.tar', 124,
              b'\x80\0\0\0' + (1 << 62).to_bytes(8, 'big'))


def summed(head):
    total = sum(head[:148]) + 8 * 32 + sum(head[156:512])
    return head[:148] + b'%06o\0 ' % total + head[156:]


def patch(path, name, at, data):
    """Change bytes of a header, and update its checksum."""
    with tarfile.open(path) as tar:
        off = tar.getmember(name).offset
    with open(path, 'r+b') as f:
        f.seek(off)
        head = bytearray(f.read(512))
        head[at:at + len(data)] = data
        f.seek(off)
        f.write(summed(bytes(head)))


def cut(path, out):
    with open(path, 'rb') as f:
        data = f.read()
    with tarfile.open(path) as tar:
        at = {i for m in tar.getmembers() for i in (
            m.offset, m.offset + 300, m.offset_data, m.offset_data + m.size)}
    for i in sorted(at - {0}):
        with open('%s/%07d.tar' % (out, i), 'wb') as f:
            f.write(data[:i])


def flip(path, out):
    with open(path, 'rb') as f:
        data = f.read()
    with tarfile.open(path) as tar:
        at = [m.offset for m in tar.getmembers()]
    for n, off in enumerate(at):
        i = off + n * 37 % 500
        with open('%s/%07d.tar' % (out, i), 'wb') as f:
            f.write(data[:i] + bytes([data[i] ^ 0x81]) + data[i + 1:])


if __name__ == '__main__':
    {'make': make, 'cut': cut, 'flip': flip}[sys.argv[1]](*sys.argv[2:])
