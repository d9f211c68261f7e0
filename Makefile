# SPDX-License-Identifier: GPL-2.0
#
# Names for what the scripts do; "make help" lists them.

.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

KVER	?= $(shell uname -r)
KDIR	?= /lib/modules/$(KVER)/build

export KVER KDIR DESTDIR RDMA_CORE_SRC QUICK SOAK_SECONDS

##@ Try it
demo:		## two guests with frdma between them; installs what it needs
	@scripts/demo
check:		## the tests; TESTS="lint unit net/link" runs some
	@scripts/check $(TESTS)
fuzz:		## fuzz the engine; FUZZ_SECONDS=60 for each target, T=ack one
	@scripts/fuzz $(or $(FUZZ_SECONDS),600) $(T)
conformance:	## the conformance scripts on engine, module and rdma_rxe, with a table
	@scripts/conformance
check-debug:	## the guest tests on a kernel with KASAN, lockdep, kmemleak
	@scripts/check debug
check-races:	## the guest tests on a kernel with KCSAN, which looks for data races
	@scripts/check races
check-matrix:	## all guest tests on Debian 12, 13 and sid, with a table
	@scripts/check matrix
soak:		## tests without end: SOAK_SECONDS=7200, or until interrupted
	@scripts/soak
check-programs:	## programs of others, on frdma and rdma_rxe; PROGRAMS="ucx mpi" some
	@scripts/programs $(PROGRAMS)
bench:		## figures against rdma_rxe and TCP; QUICK=1, or ONLY=PART: some
	@scripts/bench $(ONLY)
bench-compare:	## what has become of them: A=old.json B=new.json
	@scripts/bench compare $(if $(A),"$(A)") $(if $(B),"$(B)")

##@ Use it on this machine
all:		## build the module for the running kernel, and the provider
	@scripts/install --build
install:	## build and install both; then: modprobe frdma
	@scripts/install
deb:		## packages for Debian: of this machine, or R=trixie|bookworm|sid
	@scripts/package deb $(if $(R),-r $(R))
rpm:		## packages for Fedora and the like, likewise
	@scripts/package rpm $(if $(R),-r $(R))
check-install:	## packages are installed, upgraded, removed in guests; R="trixie sid"
	@scripts/check-install $(R)
uninstall:	## remove what "install" installed
	@scripts/install --uninstall

##@ Work on it
lint:		## style, licences, the order of the floors
	@scripts/lint
clean:		## remove what was built in this checkout
	@scripts/install --clean
help:		## this list
	@awk -F '##' '/^##@/ { print "\n" substr($$2, 3) } \
		/^[a-z-]+:.*##/ { sub(/:.*/, "", $$1); \
		printf "  make %-14s %s\n", $$1, $$2 }' Makefile
	@echo; echo "A shell in two guests: scripts/guest shell -n 2"

.PHONY: all bench bench-compare check check-debug check-install \
	check-matrix check-programs check-races clean conformance deb demo fuzz \
	help install lint rpm soak uninstall
