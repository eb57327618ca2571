#!/usr/bin/env python3
"""oracle - read a snapshot slowly, and say what is in it

usage: oracle.py [-c] [-m man|bell|9front] [-x PID ADDR LEN] [file]

A second reader of snap(6) streams, written to be read rather than to be
fast. It shares no line with the library's reader and writer, and tells
whether they are right. Its authors knew the library; unsnap.py is a reader
that was written from the manual page alone.

It prints the first line of the stream, then each process in the order
in which they first appear: its files sorted by name, the segments of its
text and of its memory as they came. Empty segments are left out.

	header FIRSTLINE
	process PID
	file NAME LEN CRC32
	text BASE LEN CRC32
	mem BASE LEN CRC32

BASE is hexadecimal, LEN decimal, CRC32 that of zlib over all the bytes
of the file or segment, in eight hexadecimal digits. If the stream is
malformed, it says what is wrong at which byte and exits 1. That byte is
the first of the smallest thing that is wrong: the page (for a bad
reference), the number, the byte within a number that does not belong
there, the line; a number, if what it announces is more than the rest of
the input; or the end of the input where something else is missing.

	-m  the reader to be: man, the one we want; bell or 9front, to find
	    out what theirs makes of the stream. Where theirs would crash or
	    run over the end of a buffer, the stream counts as malformed.
	-c  also check that the stream keeps the rules of our writer, which
	    are stricter than those of our reader. Each breach is reported
	    with its byte; if there is one, exit 1.
	-x  instead of the listing, write LEN bytes of memory from ADDR of
	    process PID. All of them must be mapped.
"""

import argparse
import mmap
import sys

sys.dont_write_bytecode = True      # of the modules beside this file

import plan9
import rules
from reader import Fault, Reader

READERS = {'man': Reader, 'bell': plan9.Bell, '9front': plan9.Nine}


def load(name):
    """The bytes of a file, mapped if that is possible."""
    with open(name or 0, 'rb') as file:
        try:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError):       # a pipe, or empty
            return file.read()


def options():
    parser = argparse.ArgumentParser(usage=__doc__.split('\n')[2][7:])
    parser.add_argument('-c', action='store_true')
    parser.add_argument('-m', choices=READERS, default='man')
    parser.add_argument('-x', nargs=3, type=lambda n: int(n, 0))
    parser.add_argument('file', nargs='?')
    args = parser.parse_args()
    if args.c and args.m != 'man':
        parser.error('-c goes with -m man')
    return args


def main():
    args = options()
    try:
        kind = rules.Checker if args.c else READERS[args.m]
        reader = kind(load(args.file)).read()
    except OSError as error:
        sys.exit('oracle: %s' % error)
    except Fault as fault:
        sys.exit('oracle: %s' % fault)
    if args.x:
        memory = reader.memory(*args.x)
        if memory is None:
            sys.exit('oracle: not mapped')
        sys.stdout.buffer.write(memory)
        return
    for line in reader.dump():
        sys.stdout.buffer.write(line + b'\n')
    if args.c and reader.breaches:
        for breach in sorted(reader.breaches):
            print('oracle: byte %d: %s' % breach, file=sys.stderr)
        sys.exit(1)


if __name__ == '__main__':
    main()
