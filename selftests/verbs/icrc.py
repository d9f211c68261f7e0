#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Checks the invariant CRC of all RoCE packets of a capture with scapy.

Scapy before 2.6 knows it over IPv4 only: the others are counted; a capture
of nothing else fails.
"""

import sys

from scapy.config import conf
from scapy.contrib import roce
from scapy.contrib.roce import BTH
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.utils import RawPcapReader

conf.layers.filter([Ether, IP, IPv6, UDP, BTH])

checked = 0
unchecked = 0
wrong = 0
for number, (frame, _) in enumerate(RawPcapReader(sys.argv[1]), 1):
    packet = Ether(frame)
    if BTH not in packet:
        sys.exit(f"packet {number}: no BTH")
    if IPv6 in packet and not hasattr(roce, "IPv6"):
        unchecked += 1
        continue
    bth = packet[BTH]
    if bth.compute_icrc(b"") != bytes(packet[UDP])[-4:]:
        print(f"packet {number}: wrong ICRC: {packet.summary()}")
        wrong += 1
    checked += 1

print(f"{checked} packets, {wrong} wrong")
if unchecked:
    print(f"{unchecked} over IPv6, which this scapy cannot check")
sys.exit(wrong > 0 or not checked)
