#!/usr/bin/env python3
"""Print the table of keys in snap-linux(6), made from the tables of the programs
that read the keys.  With the argument "types", print the types of files that
may have each key.  tests/lists.t compares both with the page."""
import os
import re
import sys

os.chdir(os.path.join(os.path.dirname(__file__), '..'))

SINCE = {}              # keys newer than snap 0.1, and their versions
TYPES = {'ANY': 'all', 'NAMED': 'files with a name', 'SOCKETS': 'sockets',
         'QUEUED': 'tty, inotify, fanotify, inet, netlink'}
# the forms of keys that a function parses
PARSED = {'makekey_path': 'b', 'makekey_address': 'wd', 'makekey_icmp': 'x+'}


def table(path, begin):
    """Return the text of the array whose definition starts with begin."""
    with open(path) as f:
        return re.search(re.escape(begin) + r'[^\n]*\[\] = \{(.*?)\};',
                         f.read(), re.S).group(1)


def strings(path, begin, pattern):
    return re.findall(pattern, table(path, begin))


def types(mask):
    return ', '.join(TYPES.get(m) or m[2:-1].lower()
                     for m in mask.split(' | '))


def keys():
    """Return a dictionary of keys: form, types, and whether it is repeated."""
    found = {'type': ('w', 'all', False), 'mtime': ('i', 'all', False)}
    once, repeated, rest = table('fmt/criu/facts/keys.c', '\n} keys') \
        .split('\n\n')
    for part in once, repeated, rest:
        for name, form, mask, more in re.findall(
                r'\{ "(\w+)", "([^"]+)", ([A-Z() |]+?)(,.*?)? \}', part, re.S):
            parsed = re.search(r'\.read = (\w+)', more)
            found[name] = (PARSED[parsed.group(1)] if parsed else form,
                           types(mask), part is repeated)
    return found


users = {'snapcat': strings('fmt/merge/record.c', '\n} numbered',
                            r'NULL, "(\w+)", \d') + ['dev', 'ino'],
         'snapdiff': strings('fmt/record/factstate.c', 'const keys',
                             r'"(\w+) "'),
         'snapstack': strings('cmd/snapstack/waits/descriptors.c',
                              '} shown_keys', r'"(\w+) "')}
for key, (form, kinds, many) in sorted(keys().items()):
    if sys.argv[1:] == ['types']:
        print(key, kinds)
        continue
    who = [p for p, k in users.items() if key in k]
    if key != 'mtime':
        who.append('snapload')
    print('.It Cm %s Ta %s Ta %s%s Ta %s' % (
        key, SINCE.get(key, '0.1'), ' '.join(form), ' *' if many else '',
        ', '.join(sorted(who)) or r'\(en'))
