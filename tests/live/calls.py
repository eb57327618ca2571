#!/usr/bin/env python3
"""calls.py TRACE HEADER: print the calls that the tracing process made while a
thread was stopped, and that are not in the table in HEADER.  TRACE is the
output of strace -f.  Calls of processes that it forked do not count."""

import re
import sys

STOP = re.compile(r'PTRACE_INTERRUPT, (\d+)')
GO = re.compile(r'PTRACE_DETACH, (\d+)')
PATHS = {'open', 'openat', 'readlink', 'readlinkat', 'stat',
         'lstat', 'fstatat64', 'newfstatat', 'statx', 'access', 'faccessat'}


def table(path):
    """Return the table: {key: [its words]}."""
    lines = {}
    with open(path, encoding='utf-8') as f:
        text = f.read().split('CALLS IN THE STOP', 1)[1].split('*/', 1)[0]
    for line in text.splitlines():
        words = re.match(r' \*\t(?:(\w+):)?\s+(\S.*)$', line)
        if words and words.group(1):
            last = lines.setdefault(words.group(1), [])
        if words:
            last += words.group(2).split()
    return lines


def allowed(lines, call, args):
    """Whether the table has a call with these arguments."""
    if 'MSG_PEEK' in args:
        return False
    if 'resumed>' in args:
        return True
    if call in PATHS:
        name = re.search(r'"([^"]*)"', args)
        if name is None:
            return True
        if name.group(1) == '':
            return '-' in lines['paths']
        if name.group(1)[0] != '/':
            return '.' in lines['paths']
        return any(name.group(1).startswith(what) for what in lines['paths']
                   if what[0] == '/')
    if call in lines:
        return any(what in args for what in lines[call])
    return any(call in words for key, words in lines.items()
               if key != 'paths')


def trace(path):
    """Return (call, arguments) of each call that the process's threads made."""
    with open(path, encoding='utf-8', errors='replace') as f:
        made = [words.groups() for words in
                (re.match(r'(\d+) +(?:<\.\.\. )?(\w+)(.*)', line)
                 for line in f) if words]
    threads = {made[0][0]}
    for tid, call, rest in made:
        new = re.search(r' = (\d+)$', rest)
        if tid in threads and call in ('clone', 'clone3') and new and (
                'CLONE_THREAD' in rest or 'resumed>' in rest and '=>' in rest):
            threads.add(new.group(1))
    return [(call, rest) for tid, call, rest in made if tid in threads]


def main():
    lines = table(sys.argv[2])
    still = set()
    n = 0
    found = {}
    for call, args in trace(sys.argv[1]):
        if call == 'ptrace':
            still.update(STOP.findall(args))
            still.difference_update(GO.findall(args))
        if still:
            n += 1
            if not allowed(lines, call, args):
                found.setdefault(call, args)
    for call, args in sorted(found.items()):
        print(call + args[:200])
    print('done' if n > 100 else 'only %d calls' % n)


if __name__ == '__main__':
    main()
