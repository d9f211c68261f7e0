/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FRDMA_GUARD_H
#define FRDMA_GUARD_H

struct nf_hook_state;
struct sk_buff;

unsigned int frdma_guard_ipv4(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state);
unsigned int frdma_guard_ipv6(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state);

#endif /* FRDMA_GUARD_H */
