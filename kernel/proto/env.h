/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All that the engine takes from its surroundings: integer types, byte
 * order, bit fields, memcpy, indices that are safe from speculation, and a CRC.
 * The user-space tests put their own env.h, with the same guard, in front of this
 * one.
 */
#ifndef FRDMA_PROTO_ENV_H
#define FRDMA_PROTO_ENV_H

#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/byteorder.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>

#include "../crc.h"

#endif /* FRDMA_PROTO_ENV_H */
