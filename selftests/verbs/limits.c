// SPDX-License-Identifier: GPL-2.0
/*
 * Prints what a device says that there may be at most: "NAME VALUE" lines.
 */
#include "../lib/pair.h"

#define SAY(of, name)	printf(#name " %llu\n", (unsigned long long)(of).name)

static void of_device(void)
{
	struct ibv_device_attr_ex ex;
	struct ibv_device_attr *attr = &ex.orig_attr;

	EXPECT(!ibv_query_device_ex(ctx, NULL, &ex));
	SAY(*attr, max_mr_size);
	SAY(*attr, max_qp);
	SAY(*attr, max_qp_wr);
	SAY(*attr, max_sge);
	SAY(*attr, max_sge_rd);
	SAY(*attr, max_cq);
	SAY(*attr, max_cqe);
	SAY(*attr, max_mr);
	SAY(*attr, max_pd);
	SAY(*attr, max_qp_rd_atom);
	SAY(*attr, max_res_rd_atom);
	SAY(*attr, max_qp_init_rd_atom);
	SAY(*attr, max_mw);
	SAY(*attr, max_mcast_grp);
	SAY(*attr, max_mcast_qp_attach);
	SAY(*attr, max_total_mcast_qp_attach);
	SAY(*attr, max_ah);
	SAY(*attr, max_srq);
	SAY(*attr, max_srq_wr);
	SAY(*attr, max_srq_sge);
	SAY(*attr, max_pkeys);
	SAY(*attr, phys_port_cnt);
	SAY(ex, max_dm_size);
}

static void of_port(void)
{
	struct ibv_port_attr port;

	EXPECT(!ibv_query_port(ctx, 1, &port));
	SAY(port, max_mtu);
	SAY(port, gid_tbl_len);
	SAY(port, pkey_tbl_len);
	SAY(port, max_msg_sz);
}

int main(int argc, char **argv)
{
	EXPECT(argc == 2);
	open_device(argv[1], "0");
	of_device();
	of_port();
	EXPECT(!ibv_dealloc_pd(pd) && !ibv_close_device(ctx));
	return 0;
}
