// SPDX-License-Identifier: GPL-2.0
/* A project to try with-frdma on: is there a device whose port is up? */
#include <infiniband/verbs.h>
#include <stdio.h>

static int port_is_active(struct ibv_device *device)
{
	struct ibv_context *context = ibv_open_device(device);
	struct ibv_port_attr port;
	int err;

	if (!context)
		return 0;
	err = ibv_query_port(context, 1, &port);
	ibv_close_device(context);
	return !err && port.state == IBV_PORT_ACTIVE;
}

int main(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	int i, active = 0;

	for (i = 0; devices && devices[i]; i++) {
		if (!port_is_active(devices[i]))
			continue;
		printf("%s is active\n", ibv_get_device_name(devices[i]));
		active++;
	}
	if (devices)
		ibv_free_device_list(devices);
	return !active;
}
