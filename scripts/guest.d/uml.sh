# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Guests that are programs of this machine: User Mode Linux, for what tells
# time. Their kernel is the one of the kind "uml" (kernel.sh), their files are
# the root's, with the last build above them. They have one CPU and no network
# but their own.

# Runs in the root: the kernel, with CMD for its first program to run. That
# leaves the status of CMD, if it comes so far. Arguments: KERNEL MEM TIMEOUT CMD
# shellcheck disable=SC2016 # for the inner shell
UML_BOOT='
	echo "$4" >/tmp/command
	echo 125 >/tmp/status
	timeout -s KILL "$3" "$1" "mem=$2" root=/dev/root rootfstype=hostfs \
		rootflags=/ rw seccomp=on uml_dir=/tmp/ umid=bench quiet \
		con=null con0=null,fd:1 init=/frdma/scripts/guest.d/uml-init \
		</dev/null >/tmp/console 2>&1
	[ $? != 137 ] || echo 124 >/tmp/status
	tr -d "\r" </tmp/console
	exit "$(cat /tmp/status)"
'

# guest uml [-r sid] [--results DIR] [--mem SIZE] [--timeout SEC] [--] CMD
uml_command() {
	local name=sid mem=1G timeout=300 results='' binds status=0

	while [ $# -gt 0 ]; do
		case $1 in
		-h|--help)	usage; exit ;;
		-r|--root)	[ $# -gt 1 ] || die "uml: -r lacks the root"
				name=$2; shift ;;
		--mem|--timeout|--results)
				[ $# -gt 1 ] || die "uml: $1 lacks a value"
				printf -v "${1#--}" %s "$2"; shift ;;
		--)		shift; break ;;
		-*)		die "uml: what is '$1'? See scripts/guest --help" ;;
		*)		break ;;
		esac
		shift
	done
	[ $# = 1 ] || die "uml: one CMD, a shell line, is what it runs"
	need_superuser
	kernel_choose_root uml
	root_need "$name"
	kernel_need "$name" uml
	[ -e "$(build_dir "$name")/install/usr/lib/modules/$KERNEL_VERSION" ] ||
		die "nothing is built for this kernel:" \
			"scripts/guest build -r $name --uml"
	binds=("frdma=$TOP")
	[ -z "$results" ] || binds+=("results+=$results")
	start "${IN_ROOT[@]}" "$(root_dir "$name")" \
		"ro+$(build_dir "$name")/install:$KERNEL/install" \
		"${binds[@]}" -- sh -c "$UML_BOOT" uml \
		"/usr/lib/modules/$KERNEL_VERSION/vmlinux" \
		"$mem" "$timeout" "$1"
	wait "$STARTED" || status=$?
	case $status in
	124)	say "uml: did not end in $timeout s, or was killed" ;;
	125)	say "uml: the kernel did not come to an end, or had something" \
			"to report (above)" ;;
	esac
	return $status
}
