/* SPDX-License-Identifier: GPL-2.0 */
/* Grace periods that a verb waits for. */
#ifndef FRDMA_GRACE_H
#define FRDMA_GRACE_H

/**
 * frdma_grace_period() - wait until all RCU read sections of now have ended
 *
 * An expedited grace period takes tens of microseconds, but interrupts all CPUs
 * that are not idle. A process may ask for as many as it likes: callers share
 * them, and their rate is bounded (grace.c).
 *
 * Context: process, may sleep.
 */
void frdma_grace_period(void);

#endif /* FRDMA_GRACE_H */
