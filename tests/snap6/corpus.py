#!/usr/bin/env python3
"""corpus - publish the cases as streams, with what a reader finds in them

usage: corpus.py DIRECTORY

It writes three folders: good/ has valid streams; linux/ valid streams whose
Linux record is malformed; bad/ malformed ones. Each has NAME.snap, which may be
compressed, and NAME.json. README there says what is in a .json file.

What is found in a good stream comes from snapls --records and the bytes of the
stream. "unsnap.py -j" makes the same from the second reader; corpus.t compares.
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
from snapasm import assemble
import trailer

README = '''\
Streams of snap(6), and what a reader must find in them.  The page snap(6) says
what all of this means.  NAME.snap is a stream; if it begins as gzip or zstd
files do, it is to be decompressed first.  NAME.json has these members:

	about		why the stream is here
	bytes, sha256	of the stream, decompressed
	refused		null, or why and where a reader must refuse the stream;
			all other members are missing then.  "at" is the first
			byte of the smallest thing that is wrong, or the end of
			the input if something is missing there; "record" is the
			start of its record.  A reader may report any byte from
			there on
	header		the first line
	records		process ID, type, offset and length of each record; not
			of a trailer, and not of what was one
	checksums	true if there is a trailer that matches the stream
	processes	in the order in which they first appear:
	    files	the data records that are in force
	    linux	the files of the Linux record, in their order; null if
			there is none.  In linux/, "refused" is in its place:
			"at" counts from the start of the data
	    text, mem	the segments, in the order of the stream, without empty
			ones.  "pages" are pairs: how many pages of equal bytes
			follow one another, and their hash
	    visible	the memory after all sections: ranges that do not
			overlap, at addresses that ascend

Two readers agree on all of it, the library and tests/snap6/unsnap.py.  The
second one shares no code with the first, but its authors knew the library: that
the page alone is enough for a reader is not shown.

Hashes are SHA-256.  Addresses are strings in hexadecimal: many programs do not
read numbers of 64 bits in JSON.
'''


def sha(data):
    return hashlib.sha256(data).hexdigest()


def pages(contents):
    return [[len(list(run)), key] for key, run in
            itertools.groupby(map(sha, contents))]


def printable(name):
    try:
        return not re.search('[\0-\x1f\x7f-\x9f]', name.decode())
    except UnicodeDecodeError:
        return False


def linux(data):
    """The files of a Linux record, and what is wrong with it, or None."""
    if not data.startswith(b'linux '):
        return None, None
    line = data.find(b'\n') + 1
    if not re.fullmatch(rb'linux [^ ]+ 1\n', data[:line]):
        return [], (0, 'the first line')
    at, files, seen = line, [], set()
    while at < len(data):
        field = re.match(rb'([^\n]*)\n( *\d+ *)', data[at:])
        name = field and field.group(1)
        if not field or len(data) < at + len(name) + 13:
            return files, (at, 'no name and length')
        number = data[at + len(name) + 1:at + len(name) + 13]
        parts = name.split(b'/')
        if not re.fullmatch(rb' *\d+ +', number):
            return files, (at, 'the length')
        if any(p in (b'', b'.', b'..') or len(p) > 255 for p in parts) or \
                len(name) > 4095 or not printable(name):
            return files, (at, 'the name')
        start = at + len(name) + 13
        at = start + int(number)
        if at > len(data):
            return files, (start - len(name) - 13, 'the record ends in a file')
        files.append({'name': name.decode(), 'length': int(number),
                      'sha256': sha(data[start:at])})
        seen.add(name)
    for name in seen:
        over = [name[:i] for i, c in enumerate(name) if c == ord('/')]
        if len(files) != len(seen) or seen.intersection(over):
            return files, (line, 'names')
    return files, None


def visible(segments):
    """The ranges that (section, base, bytes) make, the front one first."""
    front = sorted(segments, key=lambda s: -s[0])
    edges = sorted({e for _, b, d in front for e in (b, b + len(d))})
    ranges = []
    for low, high in zip(edges, edges[1:]):
        for _, base, data in front:
            if base <= low < base + len(data):
                part = data[low - base:high - base]
                if ranges and ranges[-1][0] + len(ranges[-1][1]) == low:
                    ranges[-1][1] += part
                else:
                    ranges.append([low, bytearray(part)])
                break
    return ranges


def describe(stream, header, records, checksums, procs):
    """The members of a .json file. procs is a dict: for each process its
    files, segments of text and mem: (section, base, pages), and visible."""
    out, wrong = [], None
    for pid, (files, text, mem, ranges) in procs.items():
        archive, fault = linux(files.get('proc', b''))
        wrong = wrong or fault and {'pid': pid, 'at': fault[0],
                                    'why': fault[1]}
        row = {'pid': pid, 'files': {
            name: {'length': len(data), 'sha256': sha(data)}
            for name, data in sorted(files.items())}, 'linux': archive}
        for name, image in ('text', text), ('mem', mem):
            row[name] = [{'base': hex(base), 'length': sum(map(len, p)),
                          'sha256': sha(b''.join(p)), 'pages': pages(p)}
                         for _, base, p in image]
        row['visible'] = [{'base': hex(base), 'length': len(data),
                           'sha256': sha(data)} for base, data in ranges]
        out.append(row)
    return {'bytes': len(stream), 'sha256': sha(stream), 'refused': wrong,
            'header': header, 'records': records, 'checksums': checksums,
            'processes': out}


def unpacked(path):
    with open(path, 'rb') as file:
        data = file.read()
    if data[:2] == b'\x1f\x8b':
        return gzip.decompress(data)
    if data[:4] == b'\x28\xb5\x2f\xfd':
        return subprocess.run(['zstd', '-dc'], input=data, check=True,
                              capture_output=True).stdout
    return data


def by_library(path):
    """What the library finds."""
    stream = unpacked(path)
    snapls = [os.path.join(BUILD, 'snapls'), '-cn', '--records', path]
    done = subprocess.run(snapls, capture_output=True)
    records, procs, section = [], {}, 0
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
            pid, name = text.split()
            pid, section = int(pid), section + 1
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
                proc[0][name] = data
            elif kind == 'segment':
                base, length = (int(w.split()[0], 0) for w in text.split(','))
                left = length
                if length:
                    seg = []
                    proc[1 if name == 'text' else 2].append(
                        (section, base, seg))
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
    if done.returncode == 0:
        ctypes.CDLL(glob.glob(BUILD + '/libsnap.so.*')[0])
        import snap             # finds the library that is loaded
        with snap.open(path) as s:
            for pid, proc in procs.items():
                if proc[2]:
                    task = s.task(pid)
                    proc[3].extend((base, task.read(base, size))
                                   for base, size in task.memory)
    found = describe(stream, header, records,
                     'checksums' not in said and done.returncode == 0, procs)
    if (done.returncode == 1) != (found['refused'] is not None):
        sys.exit(f'{path}: {found["refused"]}: snapls: {said}')
    return found


class Noting(Reader):
    """The second reader, which notes records."""

    def read(self):
        self.records = []
        return super().read()

    def head(self):
        start = self.record_at = self.pos
        pid, name = super().head()
        self.records.append({'pid': pid, 'type': name.decode(), 'at': start})
        return pid, name

    def record(self):
        self.record_at = self.pos
        super().record()
        self.records[-1]['length'] = self.pos - self.records[-1]['at']

    def mark(self, start):
        super().mark(start)
        self.records[-1]['trailer'] = True


def by_reader(stream):
    """What the second reader finds."""
    reader = Noting(stream)
    try:
        reader.read()
    except Fault as fault:
        return {'bytes': len(stream), 'sha256': sha(stream), 'refused': {
            'at': fault.at, 'record': getattr(reader, 'record_at', 0),
            'why': fault.what}}
    procs = {}
    for pid, proc in reader.procs.items():
        images = [[(seg.section, seg.base, [reader.content(seg, i)
                    for i in range(len(seg.where))]) for seg in image]
                  for image in (proc.text, proc.mem)]
        files = {name.decode(): stream[at:at + n]
                 for name, (at, n) in proc.files.items()}
        procs[pid] = files, *images, visible(
            [(s, b, b''.join(p)) for s, b, p in images[1]])
    at = reader.trailer
    checked = at is not None and stream[at:] in (
        trailer.write(stream[:at]), trailer.write(stream[:at], False))
    return describe(stream, reader.header.decode('latin-1'),
                    [r for r in reader.records if 'trailer' not in r],
                    checked, procs)


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
        if name == 'thread-number':     # a matter of snap-linux(6)
            continue
        about = re.match(r'# (?:-c: )?(.*)', text)[1]
        found, stream = None, assemble(text, case)
        if kind == 'bad':
            found = by_reader(stream)
            found['refused']['at'], found['refused']['why'] = int(
                about.split()[1][:-1]), about.split(': ', 1)[1]
            about = 'malformed'
        elif kind == 'odd':
            about = about.split(': ', 1)[1]
            kind = 'linux' if os.path.exists(case[:-2] + '.err') else 'good'
        publish(os.path.join(top, kind, name), about, stream, found)
    packed(top)
    with open(os.path.join(top, 'README'), 'w', encoding='utf-8') as file:
        file.write(README)


def packed(top):
    """Streams that are compressed, or that snapcat merges."""
    good = os.path.join(top, 'good', '')
    plain, other = good + 'indexed.snap', good + 'mixed.snap'

    def run(*argv, data=None):
        return subprocess.run(argv, input=data, check=True,
                              capture_output=True).stdout

    snapcat = os.path.join(BUILD, 'snapcat')
    with open(plain, 'rb') as file:
        stream = file.read()
    half = len(stream) // 2
    members = gzip.compress(stream[:half]) + gzip.compress(stream[half:])
    by_snap = run(snapcat, '-z', plain)
    for name, about, data in (
            ('gzip', 'one member of gzip', gzip.compress(stream)),
            ('gzip-members', 'two members of gzip', members),
            ('gzip-snap', 'members as snap -z writes them', by_snap),
            ('zstd', 'zstd', run('zstd', '-qc', data=stream)),
            ('moments', 'two moments of the same processes, as snapcat '
             'merges them', run(snapcat, plain, plain))):
        publish(good + name, about, data)
    publish(os.path.join(top, 'bad', 'gzip-snap-cut'), 'malformed',
            by_snap[:-34], {'refused': {
                'at': len(by_snap) - 34, 'record': 0, 'why': 'the last '
                'member is missing, by which a file of snap -z ends; bytes '
                'are those of the compressed file'}})


if __name__ == '__main__':
    main(sys.argv[1])
