#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
#
# Reliable datagrams (RDS) with contents that are checked.
# usage: rds.py echo ADDRESS		send back what comes, until "end" comes
#        rds.py ask ADDRESS TO COUNT	send messages to an echo, and compare
import errno
import hashlib
import socket
import sys
import time

SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33

PORT = 4000
SIZES = (0, 1, 63, 1000, 4096, 4097, 65536, 300001, 1 << 20)
BUFFER = 2 << 20


def endpoint(address):
    s = socket.socket(socket.AF_RDS, socket.SOCK_SEQPACKET, 0)
    s.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, BUFFER)
    s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER)
    s.bind((address, PORT))
    s.settimeout(60)
    return s


# The queue of messages that the peer has not acknowledged may be full.
def send(s, data, to):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            return s.sendto(data, to)
        except OSError as e:
            if e.errno not in (errno.EAGAIN, errno.ENOBUFS):
                raise
        time.sleep(0.01)
    raise TimeoutError("cannot send")


# Contents that are different for each message and each place in it.
def contents(n, size):
    seed = hashlib.sha256(str(n).encode()).digest()
    return (seed * (size // len(seed) + 1))[:size]


def echo(s):
    while True:
        data, peer = s.recvfrom(BUFFER)
        send(s, data, peer)
        if data == b"end":
            time.sleep(1)
            return


def ask(s, to, count):
    total = 0
    for n in range(count):
        data = contents(n, SIZES[n % len(SIZES)])
        send(s, data, (to, PORT))
        back, peer = s.recvfrom(BUFFER)
        if back != data or peer[0] != to:
            sys.exit(f"message {n}: {len(back)} bytes of {len(data)} came back")
        total += 2 * len(data)
    # All at once: they come in order.
    for n in range(count):
        send(s, contents(n, 4096), (to, PORT))
    for n in range(count):
        back, peer = s.recvfrom(BUFFER)
        if back != contents(n, 4096):
            sys.exit(f"message {n} of many did not come in order")
        total += 2 * 4096
    send(s, b"end", (to, PORT))
    s.recvfrom(BUFFER)
    print(total, "bytes")


if sys.argv[1] == "echo":
    echo(endpoint(sys.argv[2]))
else:
    ask(endpoint(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
