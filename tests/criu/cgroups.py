#!/usr/bin/env python3
"""cgroups OURS CRIUS PATH - compare the cgroups in two checkpoints

Compares the cgroups of all processes and threads in each hierarchy that criu
records, and owner, mode and properties of the cgroups at and below PATH.  OURS
may have more cgroups above them, and in version 2 more properties.  Prints each
difference.  Exits 1 if there is one, or if nothing was compared.
"""
import glob
import os
import sys

sys.dont_write_bytecode = True

import imgread


def sets(path):
    """{thread: {hierarchy: path}}"""
    image = imgread.read(path + '/cgroup.img')[0]
    by_id = {s['id']: {m['name']: (m['path'], m.get('cgns_prefix'))
                       for m in s['ctls']} for s in image['sets']}
    out = {}
    for name in glob.glob(path + '/core-*.img'):
        core = imgread.read(name)[0]
        number = core.get('thread_core', {}).get('cg_set')
        out[os.path.basename(name)] = by_id.get(number)
    return out


def cgroups(path, below):
    """{(hierarchy, path): (owner and mode, properties)}"""
    out = {}

    def add(list_, above, dirs):
        for d in dirs:
            at = above + '/' + d['dir_name']
            if (at + '/').startswith(below + '/'):
                out[list_, at] = (d.get('dir_perms'), [
                    (p['name'], p['value'], p['perms'])
                    for p in d.get('properties', ())])
            add(list_, at if at != '/' else '', d.get('children', ()))

    for c in imgread.read(path + '/cgroup.img')[0]['controllers']:
        add(','.join(c['cnames']), '', c.get('dirs', ()))
    return out


def main(ours, crius, below):
    bad = 0
    mine, theirs = sets(ours), sets(crius)
    for key in sorted(set(mine) | set(theirs)):
        a, b = mine.get(key), theirs.get(key)
        if a and b:
            a = {k: v for k, v in a.items() if k in b}
        if a != b:
            print(key, 'ours:', a, 'theirs:', b)
            bad = 1
    mine, theirs = cgroups(ours, below), cgroups(crius, below)
    for key in sorted(set(mine) | set(theirs)):
        a, b = mine.get(key), theirs.get(key)
        if a and b and key[0] == '':
            a = (a[0], [p for p in a[1] if p[0] in [q[0] for q in b[1]]])
        if a != b:
            print(key, 'ours:', a, 'theirs:', b)
            bad = 1
    print(len(theirs), 'cgroups compared')
    return bad or not theirs


sys.exit(main(*sys.argv[1:]))
