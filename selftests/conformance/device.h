/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A device of the kernel as a tested end: verbs on its interface, a raw socket
 * on the interface opposite.
 */
#ifndef CONFORM_DEVICE_H
#define CONFORM_DEVICE_H

#include "play.h"

/* Addresses of both ends; the script around gives the near one its own. */
#define HOST4	"10.79.0.1"
#define PEER4	"10.79.0.2"
#define HOST6	"fd79::1"
#define PEER6	"fd79::2"

/* device_wire.c */
bool wire_open(const char *near, const char *far);
int wire_fd(void);
void wire_deliver(const struct packet *packet);
bool wire_deliver_train(const struct packet *packets, size_t nr,
			uint32_t linear);
bool wire_take(struct packet *packet);

/* device_count.c */
void count_begin(const char *device);
bool count_since(const char *counter, uint64_t *value);

#endif /* CONFORM_DEVICE_H */
