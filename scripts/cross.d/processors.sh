# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034	# each is for one of those who read it
#
# What differs between the processors that scripts/cross builds for, by Debian's
# names of them.

# Sets, for processor $1:
#
#	TRIPLET		of its compiler and its libraries
#	KARCH		what a kernel's makefiles call it
#	FLAVOURS	its kernels, by the ends of their names
#	MACHINE		the emulator and the machine, a command
#	EMULATOR	the package that has it
#	CONSOLE		that machine's
set_processor() {
	case $1 in
	arm64)
		TRIPLET=aarch64-linux-gnu
		KARCH=arm64
		FLAVOURS=(arm64 arm64-16k)
		MACHINE=(qemu-system-aarch64 -M virt -cpu "max,pauth-impdef=on")
		EMULATOR=qemu-system-arm
		CONSOLE=ttyAMA0
		;;
	ppc64el)
		TRIPLET=powerpc64le-linux-gnu
		KARCH=powerpc
		FLAVOURS=(powerpc64le-64k)
		MACHINE=(qemu-system-ppc64 -M pseries)
		EMULATOR=qemu-system-ppc
		CONSOLE=hvc0
		;;
	s390x)
		TRIPLET=s390x-linux-gnu
		KARCH=s390
		FLAVOURS=(s390x)
		MACHINE=(qemu-system-s390x -M s390-ccw-virtio)
		EMULATOR=qemu-system-s390x
		CONSOLE=ttysclp0
		;;
	*)
		return 1
		;;
	esac
}
