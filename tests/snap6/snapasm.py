#!/usr/bin/env python3
"""snapasm - assemble a snapshot from a text that diff can show

usage: snapasm.py [case.s] > case.snap

It knows the syntax of the parts of a snap(6) stream, not their meaning, and
makes malformed streams as well as valid ones. A line has one directive.
A comment begins with # anywhere in a line.

	"text" ...              these bytes
	bytes BYTES             these bytes
	justify left|right      justification of the following number fields
	left N, right N         one number field with this justification
	number N                a number field
	field WIDTH DIGITS      DIGITS unchanged, blank-padded to WIDTH
	                        columns (-WIDTH: on the right), a blank
	record PID TYPE         the header line of a record
	data BYTES              the number of bytes, then the bytes
	data {                  the same with the output of the lines
	}                       up to this one; may be nested
	segment BASE LEN        the two numbers that begin a segment
	r BYTES                 a raw page
	z [COUNT]               COUNT pages of zeros, 1 unless given
	m PID OFFSET            a reference to a page in memory
	t PID OFFSET            a reference to a page in a text
	trailer                 the trailer of the preceding stream

BYTES are strings in double quotes with the escapes of C, "x"*N being N
times "x"; or SEED [LEN], a word of at most nine characters and a length
(1024 unless given): lines of 16 bytes with the seed and their place in
the pattern, cut at LEN.

N is decimal, or hexadecimal after 0x, of any size. A number field is 11
columns and a blank, or wider if the number is. It is right-justified by
default.
"""

import re
import sys

TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"(?:\*\d+)?|[^\s"#]+)')
END = re.compile(r'\s*(#.*)?$')


def split(line):
    """Return the words of a line. Strings keep their quotes."""
    words, at = [], 0
    while not END.match(line, at):
        token = TOKEN.match(line, at)
        if not token:
            raise ValueError('not a word: ' + line[at:].strip())
        words.append(token.group(1))
        at = token.end()
    return words


def string(word):
    text, times = re.fullmatch(r'"(.*)"\*?(\d*)', word).groups()
    text = text.encode('latin-1').decode('unicode_escape')
    return text.encode('latin-1') * int(times or 1)


def pattern(seed, length='1024'):
    if len(seed) > 9:
        raise ValueError('seed too long: ' + seed)
    length = int(length, 0)
    lines = ('%-9s %05x\n' % (seed, at) for at in range(0, length, 16))
    return ''.join(lines).encode('ascii')[:length]


def literal(words):
    if words[0][0] != '"':
        return pattern(*words)
    return b''.join(string(word) for word in words)


def field(width, digits):
    width = int(width)
    digits = digits.ljust(-width) if width < 0 else digits.rjust(width)
    return digits.encode() + b' '


class Assembler:
    def __init__(self):
        self.width = 11
        self.out = [bytearray()]    # the stream, then the open data blocks
        number = self.number
        self.ops = {
            'bytes': lambda *words: literal(words),
            'left': lambda n: number(n, -11),
            'right': lambda n: number(n, 11),
            'number': lambda n: number(n),
            'field': field,
            'record': lambda pid, name: number(pid) + name.encode() + b'\n',
            'data': lambda *words: self.counted(literal(words)),
            'segment': lambda base, length: number(base) + number(length),
            'r': lambda *words: b'r' + literal(words),
            'z': lambda count='1': b'z' * int(count),
            'm': lambda pid, offset: b'm' + number(pid) + number(offset),
            't': lambda pid, offset: b't' + number(pid) + number(offset),
        }

    def number(self, n, width=None):
        return field(width or self.width, str(int(n, 0)))

    def counted(self, block):
        return self.number(str(len(block))) + block

    def line(self, words):
        op, args = words[0], words[1:]
        if op == 'justify':
            self.width = {'left': -11, 'right': 11}[args[0]]
        elif words == ['data', '{']:
            self.out.append(bytearray())
        elif op == 'trailer':
            import trailer
            self.out[-1] += trailer.write(self.out[0])
        elif op == '}':
            block = self.out.pop()
            self.out[-1] += self.counted(block)
        elif op[0] == '"':
            self.out[-1] += literal(words)
        else:
            self.out[-1] += self.ops[op](*args)


def assemble(text, name='stdin'):
    """Return the stream that the text describes."""
    snap = Assembler()
    for number, line in enumerate(text.splitlines(), 1):
        try:
            words = split(line)
            if words:
                snap.line(words)
        except (LookupError, TypeError, ValueError) as error:
            sys.exit('snapasm: %s:%d: %s (%s)' % (name, number, line, error))
    if len(snap.out) != 1:
        sys.exit('snapasm: %s: a data block is still open' % name)
    return bytes(snap.out[0])


def main(args):
    if len(args) > 1 or args[:1] == ['-h']:
        sys.exit(__doc__)
    try:
        with open(args[0] if args else 0, encoding='utf-8') as file:
            text = file.read()
    except OSError as error:
        sys.exit('snapasm: %s' % error)
    sys.stdout.buffer.write(assemble(text, *args))


if __name__ == '__main__':
    main(sys.argv[1:])
