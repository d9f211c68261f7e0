// SPDX-License-Identifier: GPL-2.0
/*
 * Attributes of a link: /sys/class/infiniband/<link>/. A value that is out of
 * range is refused with EINVAL. Readers take no lock.
 */
#include <linux/pkt_sched.h>
#include <linux/sysfs.h>
#include <rdma/ib_verbs.h>

#include "cnp.h"
#include "dev.h"
#include "poller.h"
#include "sysfs.h"
#include "uapi/frdma-abi.h"
#include "verbs_dev.h"

static struct frdma_dev *attr_to_frdma(struct device *device)
{
	return rdma_device_to_drv_device(device, struct frdma_dev, ib);
}

/* Shows @value, which may name @dev, the link. */
#define SHOW(name, value)						\
static ssize_t name##_show(struct device *device,			\
			   struct device_attribute *attr, char *buf)	\
{									\
	const struct frdma_dev *dev = attr_to_frdma(device);		\
									\
	return sysfs_emit(buf, "%u\n", READ_ONCE(value));		\
}

static ssize_t parent_show(struct device *device,
			   struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", attr_to_frdma(device)->ndev->name);
}
static DEVICE_ATTR_RO(parent);

static ssize_t frdma_abi_show(struct device *device,
			      struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", FRDMA_ABI_VERSION);
}
static DEVICE_ATTR_RO(frdma_abi);

static int read_switch(const char *buf, u32 *value)
{
	bool on;

	if (kstrtobool(buf, &on))
		return -EINVAL;
	*value = on;
	return 0;
}

static int read_number(const char *buf, u32 min, u32 max, u32 *value)
{
	return kstrtou32(buf, 10, value) || *value < min || *value > max ?
	       -EINVAL : 0;
}

/* Keeps what @read has read in the field that has the attribute's name. */
#define KEEP(name, read)						\
SHOW(name, dev->name)							\
									\
static ssize_t name##_store(struct device *device,			\
			    struct device_attribute *attr,		\
			    const char *buf, size_t len)		\
{									\
	u32 value;							\
									\
	if (read)							\
		return -EINVAL;						\
	WRITE_ONCE(attr_to_frdma(device)->name, value);			\
	return len;							\
}									\
static DEVICE_ATTR_RW(name)

#define SWITCH(name)		KEEP(name, read_switch(buf, &value))
#define NUMBER(name, min, max)	KEEP(name, read_number(buf, min, max, &value))

SWITCH(check_interface);
SWITCH(ecn);
SWITCH(guard);
SWITCH(loopback);
SWITCH(trains);
NUMBER(cnp_dscp, 0, FRDMA_NR_DSCP - 1);
NUMBER(cnp_priority, 0, TC_PRIO_CONTROL);
NUMBER(gather_us, 0, FRDMA_GATHER_US_MAX);

SHOW(max_reads, dev->max_reads)

/* Consumers in the kernel read ib_core's copy of the limits. */
static ssize_t max_reads_store(struct device *device,
			       struct device_attribute *attr, const char *buf,
			       size_t len)
{
	struct frdma_dev *dev = attr_to_frdma(device);
	u32 value;

	if (read_number(buf, 1, FRDMA_MAX_RD_ATOM, &value))
		return -EINVAL;
	WRITE_ONCE(dev->max_reads, value);
	WRITE_ONCE(dev->ib.attrs.max_qp_rd_atom, value);
	WRITE_ONCE(dev->ib.attrs.max_qp_init_rd_atom, value);
	return len;
}
static DEVICE_ATTR_RW(max_reads);

SHOW(poll_us, dev->poller.us)

static ssize_t poll_us_store(struct device *device,
			     struct device_attribute *attr, const char *buf,
			     size_t len)
{
	u32 us;

	if (read_number(buf, 0, FRDMA_POLL_US_MAX, &us))
		return -EINVAL;
	return frdma_poller_set(attr_to_frdma(device), us) ?: len;
}
static DEVICE_ATTR_RW(poll_us);

static struct attribute *frdma_attrs[] = {
	&dev_attr_check_interface.attr,
	&dev_attr_cnp_dscp.attr,
	&dev_attr_cnp_priority.attr,
	&dev_attr_ecn.attr,
	&dev_attr_frdma_abi.attr,
	&dev_attr_gather_us.attr,
	&dev_attr_guard.attr,
	&dev_attr_loopback.attr,
	&dev_attr_max_reads.attr,
	&dev_attr_parent.attr,
	&dev_attr_poll_us.attr,
	&dev_attr_trains.attr,
	NULL
};

const struct attribute_group frdma_attr_group = {
	.attrs = frdma_attrs,
};
