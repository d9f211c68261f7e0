#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
#
# Streams over SMC-R with contents that are checked.
# usage: smc.py eid NAME		become a member of that group of hosts
#        smc.py serve ADDRESS COUNT	send back what COUNT streams bring
#        smc.py ask TO COUNT MEGABYTES	COUNT streams at a time, and compare
import ctypes
import os
import socket
import struct
import sys
import threading

AF_SMC = 43
PORT = 4300
CHUNK = 1 << 16

NETLINK_GENERIC = 16
GENL_ID_CTRL = 16
CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 3, 1, 2
SMC_NETLINK_ADD_UEID, SMC_NLA_EID_TABLE_ENTRY = 10, 1
NLM_F_REQUEST, NLM_F_ACK, NLMSG_ERROR = 1, 4, 2


def attribute(kind, data):
    return (struct.pack("HH", 4 + len(data), kind) + data +
            bytes(-len(data) % 4))


# One request of generic netlink; returns the attributes of what is answered.
def request(family, command, payload):
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
    body = struct.pack("BBH", command, 1, 0) + payload
    s.send(struct.pack("IHHII", 16 + len(body), family,
                       NLM_F_REQUEST | NLM_F_ACK, 1, 0) + body)
    answer = s.recv(65536)
    kind = struct.unpack_from("H", answer, 4)[0]
    if kind == NLMSG_ERROR:
        error = -struct.unpack_from("i", answer, 16)[0]
        if error:
            raise OSError(error, os.strerror(error))
    return answer[20:]


def family_id(name):
    answer = request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY,
                     attribute(CTRL_ATTR_FAMILY_NAME, name.encode() + b"\0"))
    while answer:
        length, kind = struct.unpack_from("HH", answer)
        if kind == CTRL_ATTR_FAMILY_ID:
            return struct.unpack_from("H", answer, 4)[0]
        answer = answer[(length + 3) & ~3:]
    sys.exit(f"no {name}")


# Hosts speak the second version of SMC-R, the one that goes with RoCE v2, if
# they have a name of this kind in common.
def add_eid(name):
    request(family_id("SMC_GEN_NETLINK"), SMC_NETLINK_ADD_UEID,
            attribute(SMC_NLA_EID_TABLE_ENTRY, name.ljust(32).encode() + b"\0"))


# Python knows the family of addresses, but not that of the socket.
def smc_socket():
    fd = ctypes.CDLL(None, use_errno=True).socket(AF_SMC, socket.SOCK_STREAM, 0)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "no socket")
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, fileno=fd)
    s.settimeout(100)
    return s


def echo(s):
    while True:
        data = s.recv(CHUNK)
        if not data:
            break
        s.sendall(data)
    s.close()


def serve(address, count):
    listener = smc_socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, PORT))
    listener.listen(count)
    print("listens", flush=True)
    threads = []
    for _ in range(count):
        s, _ = listener.accept()
        s.settimeout(100)
        threads.append(threading.Thread(target=echo, args=(s,)))
        threads[-1].start()
    for thread in threads:
        thread.join()


def feed(s, data):
    s.sendall(data)
    s.shutdown(socket.SHUT_WR)


def ask(s, size, right):
    data = os.urandom(size)
    feeder = threading.Thread(target=feed, args=(s, data))
    feeder.start()
    back = bytearray()
    while len(back) < size:
        part = s.recv(CHUNK)
        if not part:
            break
        back += part
    feeder.join()
    right.append(back == data)
    s.close()


def ask_all(to, count, size):
    right = []
    streams = [smc_socket() for _ in range(count)]
    for s in streams:
        s.connect((to, PORT))
    # While they are open: whoever waits for this line can see them.
    print("connected", flush=True)
    threads = [threading.Thread(target=ask, args=(s, size, right))
               for s in streams]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if right.count(True) != count:
        sys.exit(f"{right.count(True)} of {count} streams came back whole")
    print(2 * count * size, "bytes")


if sys.argv[1] == "eid":
    add_eid(sys.argv[2])
elif sys.argv[1] == "serve":
    serve(sys.argv[2], int(sys.argv[3]))
else:
    ask_all(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]) << 20)
