#!/usr/bin/env python3
"""fields - compare two checkpoints, field by field: fields OURS CRIU ACCEPTED

A number that only links one image to another is replaced with the fields that
it leads to: fd/3/file/name, not the number of a file.  Prints each difference
that no line of ACCEPTED describes:

	FIELD # REASON ? TEST

FIELD is a regular expression for the field's name without process IDs.  TEST is
an optional expression of the values ours and theirs; None is a missing field.

Exits 1 if there is a difference that is not accepted.
"""
import os
import re
import sys

sys.dont_write_bytecode = True

import imgread

# members of a file_entry that are compared without their number
FILES = ('reg', 'efd', 'epfd', 'sgfd', 'tfd', 'usk', 'fifo', 'pipe', 'memfd')


class Classes:
    """Names for numbers of which only equality matters."""

    def __init__(self):
        self.names = {}

    def name(self, kind, number, where):
        return self.names.setdefault((kind, number), 'as ' + where)


class Checkpoint:
    """A directory of images as a flat dictionary."""

    def __init__(self, path):
        self.path = path
        self.flat = {}
        self.classes = Classes()
        self.files = {f['id']: f for f in self.read('files')}
        self.memfds = {f['inode_id']: f for f in self.read('memfd')}
        self.pipes = {f['pipe_id']: f for f in self.read('pipes-data')}
        self.remaps = {f['orig_id']: f for f in self.read('remap-fpath')}
        self.queues = {}
        for packet in self.read('sk-queues'):
            self.queues.setdefault(packet['id_for'], []).append(packet)
        self.add('inventory', self.read('inventory')[0])
        for tree in self.read('pstree'):
            self.task(tree)

    def read(self, name):
        return imgread.read(os.path.join(self.path, name + '.img'))

    def add(self, where, value):
        """Add value as where; messages and lists field by field."""
        if isinstance(value, dict):
            for k, v in value.items():
                self.add('%s/%s' % (where, k), v)
        elif isinstance(value, list):
            for i, v in enumerate(value):
                self.add('%s/%d' % (where, i), v)
        else:
            self.flat[where] = value

    def task(self, tree):
        pid = tree['pid']
        at = 'task %d' % pid
        self.add(at + '/tree', dict(tree, threads=sorted(tree['threads'])))
        for tid in tree['threads']:
            for core in self.read('core-%d' % tid):
                self.core('%s/core %d' % (at, tid), core)
        for ids in self.read('ids-%d' % pid):
            for k, v in ids.items():
                self.add('%s/ids/%s' % (at, k),
                         self.classes.name(k, v, at))
            self.descriptors(at, ids['files_id'])
        for fs in self.read('fs-%d' % pid):
            self.file(at + '/fs/cwd', fs.pop('cwd_id'))
            self.file(at + '/fs/root', fs.pop('root_id'))
            self.add(at + '/fs', fs)
        for mm in self.read('mm-%d' % pid):
            self.file(at + '/mm/exe', mm.pop('exe_file_id'))
            for vma in mm.pop('vmas'):
                self.vma('%s/mm/vma %x' % (at, vma['start']), vma)
            self.add(at + '/mm', mm)

    def core(self, at, core):
        """Add a core; name signal actions and timers by their numbers."""
        tc = core.get('tc', {})
        for i, action in enumerate(tc.pop('sigactions', [])):
            number = i + 1 + (i >= 8) + (i >= 17)
            kind = 'sigaction' if action['sigaction'] or number == 17 else \
                'default'
            self.add('%s/%s %d' % (at, kind, number), action)
        for timer in tc.get('timers', {}).pop('posix', []):
            self.add('%s/timer %d' % (at, timer['it_id']), timer)
        self.add(at, core)

    def vma(self, at, vma):
        shmid = vma.pop('shmid')
        if shmid and vma['status'] & 0x40c1 & ~1:     # file or memfd
            self.file(at + '/file', shmid)
        elif shmid:
            self.add(at + '/shmid', self.classes.name('shmid', shmid, at))
        self.add(at, vma)

    def descriptors(self, at, number):
        for info in self.read('fdinfo-%d' % number):
            where = '%s/fd %d' % (at, info['fd'])
            number = info.pop('id')
            self.add(where, info)
            self.add(where + '/same',
                     self.classes.name('file', number, where))
            self.file(where + '/file', number)

    def file(self, at, number):
        """Add the file with this number."""
        entry = self.files.get(number)
        if entry is None:
            self.add(at, 'missing')
            return
        self.add(at + '/type', entry['type'])
        for name in FILES:
            if name in entry:
                self.contents(at, name, dict(entry[name]), number)
        for name in entry:
            if name.startswith(('other', 'unknown')):
                self.add(at + '/' + name, entry[name])

    def contents(self, at, name, file, number):
        file.pop('id')
        link = self.classes.name
        if name == 'pipe' or name == 'fifo':
            data = dict(self.pipes.get(file['pipe_id'], {}))
            data.pop('pipe_id', None)
            self.add(at + '/data', data)
            file['pipe_id'] = link('pipe', file['pipe_id'], at)
        elif name == 'memfd':
            object = dict(self.memfds.get(file['inode_id'], {}))
            file['inode_id'] = link('memfd', file['inode_id'], at)
            object.pop('inode_id', None)
            pages = 'pagemap-shmem-%d.img' % object.pop('shmid', 0)
            object['pages'] = os.path.exists(os.path.join(self.path, pages))
            self.add(at + '/object', object)
        elif name == 'usk':
            file['ino'], file['peer'] = (
                link('socket', file['ino'], at),
                file['peer'] and link('socket', file['peer'], at + '/peer'))
            for i, packet in enumerate(self.queues.get(number, [])):
                packet = dict(packet)
                packet.pop('id_for')
                self.add('%s/packet %d' % (at, i), packet)
        elif name == 'epfd':
            for watch in file.pop('tfd', []):
                watch.pop('id')
                self.add('%s/target %d' % (at, watch['tfd']), watch)
        elif name == 'reg' and number in self.remaps:
            self.ghost(at, self.remaps[number])
        self.add(at, file)

    def ghost(self, at, remap):
        self.add(at + '/remap', remap.get('remap_type'))
        ghost, *chunks = self.read('ghost-file-%x' % remap['remap_id'])
        content = bytearray(ghost.pop('+', b''))
        for chunk in chunks:
            content[chunk['off']:chunk['off'] + chunk['len']] = chunk['+']
        self.add(at + '/content', bytes(content))
        self.add(at + '/ghost', ghost)
        self.add(at + '/ghost', self.classes.name(
            'ghost', remap['remap_id'], at))


class Accepted:
    def __init__(self, path):
        self.rules = []
        with open(path) as file:
            for line in file:
                if line.startswith('#') or not line.strip():
                    continue
                name, _, reason = line.strip().partition(' # ')
                test = reason.partition(' ? ')[2]
                self.rules.append([re.compile(name), test, 0])

    def has(self, name, ours, theirs):
        for rule in self.rules:
            if rule[0].fullmatch(name) and (not rule[1] or eval(
                    rule[1], {}, {'ours': ours, 'theirs': theirs})):
                rule[2] += 1
                return True
        return False


def main(ours, theirs, path):
    accepted = Accepted(path)
    a, b = Checkpoint(ours).flat, Checkpoint(theirs).flat
    found = 0
    for name in sorted(a.keys() | b.keys()):
        x, y = a.get(name), b.get(name)
        if x == y or accepted.has(re.sub(r'(task|core) \d+', r'\1', name),
                                  x, y):
            continue
        found += 1
        print('%s: ours %r, criu %r' % (name, x, y))
    for rule in accepted.rules:
        if not rule[2]:
            print('accepted, but not found: %s' % rule[0].pattern)
    print('%d fields, %d accepted, %d differ' % (
        len(a.keys() | b.keys()), sum(r[2] for r in accepted.rules), found))
    return found > 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
