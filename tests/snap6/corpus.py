#!/usr/bin/env python3
"""corpus - publish the cases as streams, with their expected contents

usage: corpus.py DIRECTORY

It writes three folders, which README there describes. A stream may be
compressed.

The contents of a good stream are taken from snapls --records and the bytes of
the stream. corpus.t compares them with the output of unsnap.py.
"""

import ctypes
import glob
import gzip
import hashlib
import itertools
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(HERE, '..', '..', os.environ.get('BUILD', 'build'))
sys.path.append(os.path.join(HERE, '..', '..', 'lib', 'snap'))

from reader import Fault, Reader
from rules import harmless
from snapasm import assemble
import trailer
from xxh3 import xxh3

ZSTD = bytes.fromhex('28b52ffd')
README = '''\
Streams of snap(6), and what a reader must find in them.  The page snap(6) says
what all of this means.

	good/	valid streams
	linux/	valid streams in which a Linux record is malformed
	bad/	malformed streams

NAME.snap is a stream; if it begins as gzip or zstd files do, decompress it
first.  NAME.json has these members:

	about		why the stream is here
	bytes, sha256	of the stream, decompressed
	refused		null, or why and where a reader must refuse something:
			in bad/ the stream, in linux/ the Linux record of the
			process "pid".  "at" is the first byte of the smallest
			thing that is wrong: a number, if what it announces is
			more than the rest of the input; the end of the input,
			if something else is missing there.  "record" is the
			start of its record.  A reader may report "at" or any
			byte after it.  A stream in bad/ has no further members.
			If its compression is damaged, it has no bytes and no
			sha256 either, and "at" counts in the file
	header		the first line
	records		process ID, type, offset and length of each record; not
			of a trailer, and not of what was one
	checksums	true if there is a trailer that matches the stream
	processes	in the order in which they first appear:
	    files	the data records that are in force
	    linux	the files of the Linux record, in their order; null if
			there is none, or if it is malformed
	    text, mem	the segments, in the order of the stream, without empty
			ones.  "pages" are pairs: how many pages of equal bytes
			follow one another, and their hash
	    visible	the memory after all records: ranges that do not
			overlap, at addresses that ascend.  Ranges that touch
			are one range

Two readers agree on all of it: the library, and tests/snap6/unsnap.py.  The
second one was written from the page alone, by an author who had not seen the
library.  Where it had to guess, the page has been mended.

Hashes are SHA-256.  Addresses are strings in hexadecimal: many programs do not
read numbers of 64 bits in JSON.  In the first line and in types, each byte is
one character; names in a Linux record are UTF-8.
'''


def sha(data):
    return hashlib.sha256(data).hexdigest()


def pages(contents):
    return [[len(list(run)), key] for key, run in
            itertools.groupby(map(sha, contents))]


def linux(data):
    """Return the files of a Linux record, or the place and the error."""
    line = data.find(b'\n') + 1
    if not re.fullmatch(rb'linux .+ 1\n', data[:line]):
        return 0, 'the first line'
    at, files, taken = line, [], set()
    while at < len(data):
        field = re.match(rb'([^\n]*)\n( *\d+ *)', data[at:])
        name = field and field.group(1)
        if not field or len(data) < at + len(name) + 13:
            return at, 'no name and length'
        number = data[at + len(name) + 1:at + len(name) + 13]
        parts = name.split(b'/')
        if not re.fullmatch(rb' *\d+ +', number):
            return at + len(name) + 1, 'the length'
        above = {b'/'.join(parts[:i]) for i in range(1, len(parts))}
        known = {f['name'].encode() for f in files}
        if name in known | taken or above & known:
            return at, 'the name is a second time there'
        if any(p in (b'', b'.', b'..') or len(p) > 255 for p in parts) or \
                len(name) > 4095 or not harmless(name):
            return at, 'the name'
        start = at + len(name) + 13
        at = start + int(number)
        if at > len(data):
            return start - 12, 'the record ends in a file'
        files.append({'name': name.decode(), 'length': int(number),
                      'sha256': sha(data[start:at])})
        taken |= above
    return files


def describe(stream, header, records, checksums, procs):
    """Return the members of a .json file. procs is a dict: for each process
    its files as (place in the stream, data), segments of text and mem as
    (base, pages), and visible."""
    out, wrong = [], None
    for pid, (files, text, mem, ranges) in procs.items():
        at, data = files.get('proc', (0, b''))
        archive = linux(data) if data.startswith(b'linux ') else None
        if isinstance(archive, tuple):
            wrong = {'pid': pid, 'at': at + archive[0], 'why': archive[1]}
            archive = None
        row = {'pid': pid, 'files': {
            name: {'length': len(data), 'sha256': sha(data)}
            for name, (_, data) in sorted(files.items())}, 'linux': archive}
        for name, image in ('text', text), ('mem', mem):
            row[name] = [{'base': hex(base), 'length': sum(map(len, p)),
                          'sha256': sha(b''.join(p)), 'pages': pages(p)}
                         for base, p in image]
        row['visible'] = [{'base': hex(base), 'length': len(data),
                           'sha256': sha(data)} for base, data in ranges]
        out.append(row)
    return {'bytes': len(stream), 'sha256': sha(stream), 'refused': wrong,
            'header': header, 'records': records, 'checksums': checksums,
            'processes': out}


def run(*argv, data=None):
    return subprocess.run(argv, input=data, check=True,
                          capture_output=True).stdout


def unpacked(path):
    with open(path, 'rb') as file:
        data = file.read()
    if data[:2] == b'\x1f\x8b':
        return gzip.decompress(data)
    return run('zstd', '-dc', data=data) if data[:4] == ZSTD else data


def by_library(path):
    """Return the contents that the library reads."""
    stream = unpacked(path)
    snapls = [os.path.join(BUILD, 'snapls'), '-cn', '--records', path]
    done = subprocess.run(snapls, capture_output=True)
    records, procs = [], {}
    for line in done.stdout.decode('latin-1').splitlines():
        row = line.split(None, 3)
        if row[0] == 'taken' or len(row) < 3 or not row[1].isdigit() or \
                row[2] == 'file':
            continue
        at, n, kind = int(row[0]), int(row[1]), row[2]
        text = row[3] if len(row) > 3 else ''
        if kind == 'line':
            header = stream[:n - 1].decode('latin-1')
        elif kind == 'record':
            pid, name = int(text.split()[0]), text.split()[1]
            records.append({'pid': pid, 'type': name, 'at': at, 'length': n})
        elif kind in ('data', 'count', 'segment', 'raw', 'zero', 'memory',
                      'text'):
            records[-1]['length'] += n
            if kind == 'data':
                size = int(text.split()[0])
                data = stream[at + n - size:at + n]
                if pid == 0 and name == 'proc' and \
                        data.startswith(Reader.INDEX):
                    records.pop()
                    continue
            proc = procs.setdefault(pid, ({}, [], [], []))
            if kind == 'data':
                proc[0][name] = at + n - size, data
            elif kind == 'segment':
                base, length = (int(w.split()[0], 0) for w in text.split(','))
                left = length
                if length:
                    seg = []
                    proc[1 if name == 'text' else 2].append((base, seg))
            elif kind != 'count':
                for i in range(int(re.search(r', (\d+) pages?$', text)[1])):
                    raw = re.search(r', byte (\d+)', text)
                    where = at if kind == 'raw' else raw and int(raw[1])
                    size = min(left, 1024)
                    if where is None:
                        seg.append(bytes(size))
                    else:
                        where += i * 1025 + 1
                        seg.append(stream[where:where + size])
                    left -= size
    said = done.stderr.decode('latin-1')
    failed = done.returncode == 1 and 'no usable checksums' not in said
    if not failed:
        ctypes.CDLL(glob.glob(BUILD + '/libsnap.so.*')[0])
        import snap             # finds the loaded library
        with snap.open(path) as s:
            for pid, proc in procs.items():
                if proc[2]:
                    task = s.task(pid)
                    proc[3].extend((base, task.read(base, size))
                                   for base, size in task.memory)
    found = describe(stream, header, records,
                     'checksums' not in said and not failed, procs)
    if failed != (found['refused'] is not None):
        sys.exit(f'{path}: {found["refused"]}: snapls: {said}')
    return found


def by_reader(stream, at, why):
    """Return the error of a malformed stream. The oracle finds the start of
    its record."""
    reader = Reader(stream)
    try:
        reader.read()
    except Fault:
        return bad(at, reader.record_at, why, stream)
    sys.exit('malformed, but read: ' + why)


def bad(at, record, why, stream=None):
    found = {'refused': {'at': at, 'record': record, 'why': why}}
    if stream is None:          # damaged compression
        return found
    return {'bytes': len(stream), 'sha256': sha(stream), **found}


def publish(path, about, stream, found=None):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + '.snap', 'wb') as file:
        file.write(stream)
    found = found or by_library(path + '.snap')
    with open(path + '.json', 'w', encoding='utf-8') as file:
        json.dump({'about': about, **found}, file, indent=1)
        file.write('\n')


def main(top):
    for case in sorted(glob.glob(os.path.join(HERE, '*', '*.s'))):
        kind, name = case[len(HERE) + 1:-2].split(os.sep)
        with open(case, encoding='utf-8') as file:
            text = file.read()
        if name == 'thread-number':     # see snap-linux(6)
            continue
        about = re.match(r'# (?:-c: )?(.*)', text)[1]
        found, stream = None, assemble(text, case)
        if kind == 'bad':
            found = by_reader(stream, int(about.split()[1][:-1]),
                              about.split(': ', 1)[1])
            about = 'malformed'
        elif kind == 'odd':
            about = about.split(': ', 1)[1]
            kind = 'linux' if os.path.exists(case[:-2] + '.err') else 'good'
        publish(os.path.join(top, kind, name), about, stream, found)
    compressed(top)
    trailers(top)
    with open(os.path.join(top, 'README'), 'w', encoding='utf-8') as file:
        file.write(README)


def compressed(top):
    """Return compressed streams, and one merged by snapcat."""
    plain = os.path.join(top, 'good', 'indexed.snap')
    with open(plain, 'rb') as file:
        stream = file.read()
    one = gzip.compress(stream)
    two = gzip.compress(stream[:999]) + gzip.compress(stream[999:])
    snapcat = os.path.join(BUILD, 'snapcat')
    ours = run(snapcat, '-z', plain)
    empty = ours[-34:]
    packed = run('zstd', '-qc', data=stream)
    large = assemble('"process snapshot\\n"\nrecord 10 unheard\n'
                     f'data "x"*{17 << 20}')
    listed = run(snapcat, '-z', '-', data=large)
    for name, about, data in (
            ('gzip', 'one member of gzip', one),
            ('gzip-members', 'two members of gzip', two),
            ('gzip-snap', 'members as snap -z writes them', ours),
            ('gzip-snap-list', 'members as snap -z writes them, with a list',
             listed),
            ('zstd', 'zstd', packed),
            ('zstd-frames', 'two frames of zstd', b''.join(
                run('zstd', '-qc', data=half)
                for half in (stream[:999], stream[999:]))),
            ('moments', 'two moments of the same processes, as snapcat '
             'merges them', run(snapcat, plain, plain))):
        publish(os.path.join(top, 'good', name), about, data)
    for name, at, why, data in (
            ('gzip-cut', len(one) - 4, 'the file ends in a member',
             one[:-4]),
            ('gzip-damaged', 0, 'the CRC-32 of the member is wrong',
             one[:-8] + b'crc!' + one[-4:]),
            ('gzip-junk', len(two), 'zeros behind the last member',
             two + bytes(512)),
            ('gzip-mixed', len(one), 'a member as snap -z writes them, after '
             'one that is not', one + empty),
            ('gzip-snap-cut', len(ours) - 34, 'the last member is missing, by '
             'which a file of snap -z ends', ours[:-34]),
            ('gzip-snap-damaged', 0, 'the CRC-32 of a member of snap -z is '
             'wrong', ours[:-42] + b'crc!' + ours[-38:]),
            ('gzip-snap-more', len(ours), 'another file of snap -z behind the '
             'last member', ours + ours),
            ('gzip-snap-short', len(ours) - 34, 'a member of snap -z behind '
             'one of less than 1048576 bytes', ours[:-34] + ours),
            ('gzip-snap-list', len(listed) - 114, 'a size in the list '
             'of members is wrong', listed[:-18] + b'size' + listed[-14:]),
            ('gzip-snap-mixed', len(ours) - 34, 'a member that is not as snap '
             '-z writes them, after one that is', ours[:-34] +
             gzip.compress(b'')),
            ('zstd-cut', len(packed) - 9, 'the file ends in a frame',
             packed[:-9])):
        publish(os.path.join(top, 'bad', name), 'malformed', data,
                bad(at, 0, why))


def trailers(top):
    """Return streams with matching trailers, and with others."""
    stream = assemble('"process snapshot\\n"\nrecord 10 mem\nnumber 1\n'
                      'segment 4096 2048\nr a\nr b')
    where, end = len(stream), trailer.write(stream, False)
    files = end[29 + len(Reader.INDEX):-40]
    damaged = stream[:-1] + b'!'
    name = os.path.join(top, 'good', 'trailer-')
    for word, about, data in (
            ('sums', 'a trailer without an index', stream + end),
            ('later', 'a trailer with a file that this version does not have',
             stream + trailer.seal(files + trailer.named(b'later', b'x'))),
            ('damaged', 'a trailer that does not match its own checksum: it '
             'is none', stream + end[:-9] + b'?' + end[-8:]),
            ('moved', 'bytes are missing before the trailer: it is none',
             b'process snapshot\n' + end),
            ('records', 'a trailer that counts one record too many: it is '
             'none', stream + trailer.write(stream, False, 1)),
            ('left', 'a trailer with left-justified numbers in its header: it '
             'is none', stream + resum(b'%-11d proc\n%-11d ' % (
                 0, int(end[17:29])) + end[29:])),
            ('length', 'a trailer that states another length: it is none',
             stream + resum(end[:-24] + bytes(8) + end[-16:]))):
        publish(name + word, about, data)
    for word, at, why, data in (
            ('sums', 0, 'the trailer has another checksum of this megabyte',
             damaged + end),
            ('type', where, 'it ends as a trailer does, but its type is '
             'another', stream + end.replace(b'proc', b'prox', 1)),
            ('line', where, 'it ends as a trailer does, but its data begins '
             'otherwise', stream + end.replace(b'index', b'imdex', 1)),
            ('pid', where, 'it ends as a trailer does, but is of process 1',
             stream + end.replace(b'0', b'1', 1)),
            ('wide', where, 'a trailer whose length takes 13 bytes',
             stream + end[:17] + b'%012d ' % int(end[17:29]) + end[29:])):
        publish(os.path.join(top, 'bad', 'trailer-' + word), 'malformed', data,
                bad(at, where if at else 0, why, data))


def resum(end):
    """Return the trailer with the checksum of its bytes."""
    return (end[:-16] + xxh3(end[:-16]).to_bytes(8, 'little') +
            trailer.MAGIC)


if __name__ == '__main__':
    main(sys.argv[1])
