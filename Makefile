# SPDX-License-Identifier: GPL-2.0
#
# Names for what the scripts do; "make help" lists them.

.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

KVER	?= $(shell uname -r)
KDIR	?= /lib/modules/$(KVER)/build

export KVER KDIR DESTDIR RDMA_CORE_SRC QUICK SOAK_SECONDS

# What each target can be told; uninstall, too, what install was told. Anything else
# on the command line is a mistake, which would begin something long, or install where
# nobody wants it.
knows-demo		:=
knows-check		:= TESTS FULL CHECKPATCH
knows-fuzz		:= FUZZ_SECONDS T
knows-conformance	:= ENDS
knows-check-debug	:= TESTS FULL
knows-check-races	:= TESTS FULL
knows-check-matrix	:= FULL
knows-soak		:= SOAK_SECONDS ROUND
knows-check-programs	:= PROGRAMS
knows-bench		:= ONLY QUICK
knows-bench-compare	:= A B
knows-deb		:= R
knows-rpm		:= R
knows-check-install	:= R
knows-all		:= KVER KDIR V W C LLVM LLVM_IAS CC CONFIG_% KBUILD_%
knows-install		:= $(knows-all) DESTDIR
knows-uninstall		:= $(knows-install)
knows-lint		:= CHECKPATCH
knows-clean		:=
knows-help		:=

# What chooses some of all: empty, as the variable of a script may be, it would mean all.
chooses	:= TESTS ENDS PROGRAMS ONLY R T ROUND

given	:= $(foreach v,$(.VARIABLES),$(if $(findstring command,$(origin $(v))),$(v)))
empty	:= $(foreach v,$(filter $(chooses),$(given)),$(if $(strip $($(v))),,$(v)=))
unknown	= $(filter-out $(knows-$(1)) FRDMA_% RDMA_CORE_SRC,$(given))
refuse	= $(if $(unknown),$(error "make $(1)" knows no $(unknown): see make help)) \
	  $(if $(empty),$(error $(empty) is empty: name something, or leave it out))
astray	= $(error no target "$(1)": see make help; one part of the tests: make check TESTS=$(1))
$(foreach goal,$(filter-out .%,$(or $(MAKECMDGOALS),help)),$(if $(filter undefined,$(flavor knows-$(goal))), \
	$(call astray,$(goal)),$(call refuse,$(goal))))

##@ Try it, as root
demo:		## two guests with frdma between them, minutes; installs what it needs
	@scripts/demo
check:		## the tests, 20 to 40 minutes; TESTS="lint unit net/link" runs some
	@scripts/check $(TESTS)
fuzz:		## fuzz the engine, 50 minutes; FUZZ_SECONDS=60 (of 600) for each target, T=ack one
	@scripts/fuzz $(or $(FUZZ_SECONDS),600) $(if $(T),"$(T)")
conformance:	## the conformance scripts on engine, module and rdma_rxe; ENDS="engine" some
	@scripts/conformance $(ENDS)
check-debug:	## the guest tests on a kernel with KASAN, lockdep, kmemleak; TESTS=net/life some
	@$(if $(TESTS),selftests/run --debug $(TESTS),scripts/check debug)
check-races:	## the guest tests on a kernel with KCSAN, which looks for data races; TESTS likewise
	@$(if $(TESTS),selftests/run --races $(TESTS),scripts/check races)
check-matrix:	## all guest tests on Debian 12, 13 and sid, and some on other processors, with a table
	@scripts/check matrix
soak:		## the tests in their long forms, again and again: SOAK_SECONDS=7200; ROUND=1
	@scripts/soak $(ROUND)
check-programs:	## programs of others, on frdma and rdma_rxe; PROGRAMS="ucx mpi" some
	@scripts/programs $(PROGRAMS)
bench:		## figures against rdma_rxe and TCP; QUICK=1, or ONLY="tolls time" some ("loss" only so)
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
uninstall:	## remove what "install" installed, for every kernel
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
	@echo "How long each takes, and what it needs: Documentation/testing.md"

.PHONY: all bench bench-compare check check-debug check-install \
	check-matrix check-programs check-races clean conformance deb demo fuzz \
	help install lint rpm soak uninstall
