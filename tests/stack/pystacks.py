# Python threads with known stacks: pystacks.py FILE one|two|collects.  It
# writes the stacks from sys._current_frames to FILE, a line a thread, and then
# waits.  One thread computes, or two do, or garbage is collected.
import gc
import sys
import threading
import time

lock = threading.Lock()
lock.acquire()


class Ärger:
    def wartet(self):
        number, large, half = -7, 2 ** 40, 0.5
        huge = 1 << 100
        wide, wider = 1 - 2 ** 64, 2 ** 64
        quoted = 'a"\'\t\n\\\1\xad\u200b\ud800\U0001f642'
        long = 'ü' * 61
        text, data, nothing = 'it\'s süß', b'ab\0"\'', None
        items = [1, 2.0, 'x', (True,), [], 6, 7]
        table, some = {1: 2}, {3, 4}

        def inner():
            return text
        lock.acquire()


def generated():
    yield 1
    time.sleep(10000)
    yield 2


def sleeper():
    for _ in generated():
        pass


def by_c(n):
    # the interpreter is called again, from C
    return sorted([3, 1], key=lambda x: waits(
        x, n))


def waits(x, n):
    if n > 0:
        return by_c(n - 1)
    Ärger().wartet()


threads = [threading.Thread(target=sleeper, daemon=True),
           threading.Thread(target=by_c, args=(3,), daemon=True)]
for t in threads:
    t.start()
while {f.f_code.co_name for i, f in sys._current_frames().items()
       if i != threading.main_thread().ident} != {'generated', 'wartet'}:
    time.sleep(0.01)
time.sleep(0.3)
native = {t.ident: t.native_id for t in threading.enumerate()}
with open(sys.argv[1], 'w') as f:
    for ident, frame in sys._current_frames().items():
        if ident == threading.main_thread().ident:
            continue
        text = []
        while frame is not None:
            code = frame.f_code
            text.append('%s:%s:%d' % (code.co_qualname, code.co_filename,
                                      frame.f_lineno))
            frame = frame.f_back
        print(native[ident], ' '.join(text), file=f)


def busy():
    n = 0
    while True:
        n += 1


def stay(phase, info):
    print('ready', flush=True)
    time.sleep(10000)


def main():
    if sys.argv[2] == 'collects':
        gc.callbacks.append(stay)
        gc.collect()
    if sys.argv[2] == 'two':
        threading.Thread(target=busy, daemon=True).start()
    print('ready', flush=True)
    busy()


main()
