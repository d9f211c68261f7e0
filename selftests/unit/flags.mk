# SPDX-License-Identifier: GPL-2.0
#
# How the engine is built in user space. UNIT and PROTO say where it is.

# What the kernel itself is built with, then what finds errors.
PLAIN_CFLAGS := -std=gnu11 -g -Wall -Wextra -Werror -Wno-unused-parameter \
	   -Wno-sign-compare -Wno-missing-field-initializers \
	   -Wno-pointer-arith -Wno-override-init -fno-strict-aliasing \
	   -include $(UNIT)/env.h -I$(PROTO) -I$(UNIT) \
	   -DTEST_DATA='"$(abspath $(UNIT))"'
CFLAGS	:= $(PLAIN_CFLAGS) -O1 -fno-omit-frame-pointer \
	   -fsanitize=address,undefined -fno-sanitize-recover=all
