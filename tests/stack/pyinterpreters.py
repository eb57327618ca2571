# Two Python threads that run code in interpreters of their own, and one that
# computes in the main one: pyinterpreters.py FILE.  The two write their frames
# to FILE as pystacks.py does: those of the interpreter, then its callers.
import inspect
import sys
import threading
import time

try:
    import _xxsubinterpreters as interpreters
except ImportError:             # from 3.13 on
    import _interpreters as interpreters


def tell(frame, later):
    # later: how many lines after this one the first frame will be
    text = []
    while frame is not None:
        code = frame.f_code
        text.append('%s:%s:%d' % (code.co_qualname, code.co_filename,
                                  frame.f_lineno + later))
        frame, later = frame.f_back, 0
    return ' '.join(text)


CODE = '''
import sys, threading, time

def deeper(n):
    if n > 0:
        deeper(n - 1)
    with open(%r, 'a') as f:
        print(threading.get_native_id(), tell(sys._getframe(), 1), %r, file=f)
    time.sleep(10000)

deeper(2)
'''


def run(which):
    told = inspect.getsource(tell)
    above = tell(sys._getframe(), 1)
    interpreters.run_string(which, told + CODE % (sys.argv[1], above))


def busy():
    n = 0
    while True:
        n += 1


open(sys.argv[1], 'w').close()
for _ in range(2):
    threading.Thread(target=run, args=(interpreters.create(),),
                     daemon=True).start()
while len(open(sys.argv[1]).readlines()) < 2:
    time.sleep(0.01)
time.sleep(0.3)
print('ready', flush=True)
busy()
