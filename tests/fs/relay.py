# relay.py PORT COUNT: print a new port, and relay its connections to PORT; both
# are on this machine.  Append the sizes of data from PORT to the file COUNT.
import socket
import sys
import threading


def pump(a, b, count):
    try:
        while True:
            data = a.recv(65536)
            if not data:
                break
            if count:
                count.write('%d\n' % len(data))
            b.sendall(data)
    except OSError:
        pass
    for s in (a, b):
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


server = socket.create_server(('127.0.0.1', 0))
print(server.getsockname()[1], flush=True)
with open(sys.argv[2], 'a', buffering=1) as count:
    while True:
        near, _ = server.accept()
        far = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
        for args in (near, far, None), (far, near, count):
            threading.Thread(target=pump, args=args, daemon=True).start()
