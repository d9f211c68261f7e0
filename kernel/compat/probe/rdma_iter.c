// SPDX-License-Identifier: GPL-2.0
/* Going through memory block by block has a header of its own. */
#include <rdma/iter.h>
