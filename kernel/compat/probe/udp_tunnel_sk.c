// SPDX-License-Identifier: GPL-2.0
/* Tunnels are made of a struct sock, not of the struct socket around it. */
#include <net/udp_tunnel.h>

void (*probe)(struct sock *sk) = udp_tunnel_sock_release;
