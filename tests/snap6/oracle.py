#!/usr/bin/env python3
"""oracle - read a snapshot slowly, and print its contents

usage: oracle.py [-c] [-m man|bell|9front] [-x PID ADDR LEN] [file]

A second reader of snap(6) streams, written for clarity, not speed. It shares
no code with the library, whose reader and writer it checks. Its authors knew
the library; unsnap.py was written from the manual page alone.

It prints the first line of the stream, then the processes in the order of
their first records: files sorted by name, segments of text and of memory in
the order of the stream. Empty segments are left out.

	header FIRSTLINE
	process PID
	file NAME LEN CRC32
	text BASE LEN CRC32
	mem BASE LEN CRC32

BASE is hexadecimal, LEN decimal. CRC32 is zlib's over all bytes of the
file or segment, in eight hexadecimal digits. If the stream is malformed, it
prints the error with its byte and exits 1. This is the first byte of the
smallest wrong unit: the page of a bad reference, the number, the invalid byte
within a number, or the line; a number if it announces more bytes than follow;
or the end of the input if anything else is missing.

	-m  behave like a reader: man, as the manual page says; bell or
	    9front, like theirs. A stream that would make theirs crash or
	    overrun a buffer is malformed.
	-c  also check the rules of our writer, which are stricter than
	    those of our reader. Report each breach with its byte; exit 1 if
	    there is one.
	-x  write LEN bytes of memory from ADDR of process PID instead of
	    the listing. All of them must be mapped.
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
    """Return the bytes of a file, mapped if possible."""
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
