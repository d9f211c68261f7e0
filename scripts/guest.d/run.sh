# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs: options, QEMU, the events of a run, and its verdict.

# A guest that says nothing for so long while it boots has hung.
BOOT_SILENCE=45
BOOT_TRIES=3

# A kernel that watches itself takes so many times as long as others. All that
# waits, here and in the tests, waits longer by that.
DEBUG_SLOW=4

# What the options of "run" and "shell" set.
run_defaults() {
	root=$DEFAULT_ROOT guests=1 link=no kernel='' kind='' mtu=1500 smp=2 mem=
	hugepages=0 icount=no cmdline='' timeout=900 results='' pcap=''
	systemd=
	packages='' with_build=yes pass_stdin=no cpu=
	layers=() background=()
}

# Refuses an option that lacks what must follow it.
run_option_is_whole() {
	local needs=2

	case $1 in
	-h|--help)					usage; exit ;;
	-l|--link|--icount|--no-build|--stdin|--)	needs=1 ;;
	--debug|--races|--systemd)			needs=1 ;;
	--on)						needs=3 ;;
	-*)						;;
	*)						needs=1 ;;
	esac
	[ $# -ge $needs ] || die "option $1 lacks its value; see --help"
}

# Reads the options; leaves the rest in REST.
run_options() {
	local layer

	run_defaults
	while [ $# -gt 0 ]; do
		run_option_is_whole "$@"
		case $1 in
		-r|--root)	root=$2; shift ;;
		-n|--guests)	guests=$2; shift ;;
		-l|--link)	link=yes ;;
		--on)		background+=("$2" "$3"); shift 2 ;;
		--kernel)	kernel=$2; shift ;;
		--debug|--races) kind=${1#--} ;;
		--systemd)	systemd="bench.systemd=1 systemd.show_status=yes" ;;
		--mtu)		mtu=$2; shift ;;
		--smp)		smp=$2; shift ;;
		--cpu)		cpu=$2; shift ;;
		--mem)		mem=$2; shift ;;
		--hugepages)	hugepages=$2; shift ;;
		--icount)	icount=yes; smp=1 ;;
		--cmdline)	cmdline+=" $2"; shift ;;
		--timeout)	timeout=$2; shift ;;
		--results)	results=$2; shift ;;
		--layer)	layers+=("$2"); shift ;;
		--packages)	packages=$2; shift ;;
		--pcap)		pcap=$2; shift ;;
		--no-build)	with_build=no ;;
		--stdin)	pass_stdin=yes ;;
		--)		shift; break ;;
		-*)		die "unknown option '$1'; see --help" ;;
		*)		break ;;
		esac
		shift
	done
	REST=("$@")
	[[ $guests =~ ^[1-9]$|^[1-5][0-9]$|^6[0-4]$ ]] ||
		die "--guests takes a number from 1 to 64, not '$guests'"
	run_check_number --mtu "$mtu" 68 65535
	run_check_number --smp "$smp" 1 255
	run_check_number --hugepages "$hugepages" 0 9999999
	run_check_number --timeout "$timeout" 1 9999999
	[ -z "$mem" ] || run_check_mem
	[[ $cpu =~ ^([+-][a-z0-9._-]+(,[+-][a-z0-9._-]+)*)?$ ]] ||
		die "--cpu takes features to add or leave out, such as -fsrm," \
			"not '$cpu'"
	run_check_background
	for layer in "${layers[@]}"; do
		[ -d "$layer" ] || die "--layer: there is no directory '$layer'"
	done
}

# With less the kernel has no room for its root.
run_check_mem() {
	[[ $mem =~ ^[1-9][0-9]{0,6}[MGT]$ ]] &&
		[ "$(numfmt --from=iec "$mem")" -ge $((128 << 20)) ] ||
		die "--mem takes a size from 128M on, such as 2G, not '$mem'"
}

# What --on names.
run_check_background() {
	local i

	for ((i = 0; i < ${#background[@]}; i += 2)); do
		run_check_number --on "${background[i]}" 1 "$guests"
	done
}

# Arguments: OPTION VALUE LEAST MOST
run_check_number() {
	[[ $2 =~ ^(0|[1-9][0-9]{0,6})$ ]] && [ "$2" -ge "$3" ] &&
		[ "$2" -le "$4" ] ||
		die "$1 takes a number from $3 to $4, not '$2'"
}

# Sets "emulation", what the kernel of an emulated guest is told. Programs begin at the
# same addresses each time: at others their code is translated anew, which takes three
# times as long as they. And it reads this machine's time stamp counter, which it would
# measure wrongly where the machine is busy.
run_prepare_emulation() {
	emulation=
	[ "$accel" = tcg ] || return 0
	emulation='norandmaps '
	[ "$icount" = yes ] || emulation+="tsc_early_khz=$("$TOOLS/tsc") "
}

# Sets what is booted: "kernel", its version, IMAGE, and INITRAMFS, the part of
# it that belongs to the kernel; and what depends on it: "topology", QEMU's CPUs.
run_choose_kernel() {
	local dir

	topology=$smp
	if [ -n "$kind" ]; then
		kernel_need "$root" "$kind"
		grep -q '^CONFIG_VIRTIO_BLK=y' "$KERNEL/config" ||
			die "the $kind kernel of $root has no driver for" \
				"the disk of its root"
		kernel=$KERNEL_VERSION
		IMAGE=$KERNEL/vmlinux INITRAMFS=$KERNEL/initramfs
		: "${mem:=2G}"
		slow=$DEBUG_SLOW
		timeout=$((timeout * slow))
		# Without ACPI the kernel knows of one CPU in each socket.
		topology=$smp,sockets=$smp
		return
	fi
	: "${mem:=1G}"
	slow=1
	[ -n "$kernel" ] || kernel=$(boot_kernels "$ROOT" | tail -n 1)
	for dir in "${layers[@]}" "$ROOT"; do
		IMAGE=$dir/boot/vmlinux-bench-$kernel
		INITRAMFS=$dir/boot/initramfs-bench-$kernel
		[ ! -e "$INITRAMFS" ] || return 0
	done
	die "root $root has no kernel '$kernel';" \
		"it has: $(boot_kernels "$ROOT" | paste -sd ' ')"
}

# Prepares everything a run needs. Sets RUN (its directory), ROOT, accel.
run_prepare() {
	need_superuser
	need_commands qemu-system-x86_64:qemu-system-x86 flock:util-linux
	root_need "$root"
	ROOT=$(root_dir "$root")
	run_choose_kernel
	boot_need_tools "$ROOT"
	accel=tcg
	[ "$icount" = yes ] || ! boot_kvm_works "$ROOT" || accel=kvm
	run_prepare_emulation

	work_make run
	RUN=$WORK
	mkdir "$RUN/results"
	[ -z "$results" ] || {
		mkdir -p "$results" || die "--results: cannot make '$results'"
		results=$(readlink -f "$results")
	}
	[ -z "$pcap" ] || [ -d "$(dirname "$pcap")" ] ||
		die "--pcap: there is no directory for '$pcap'"
	[ -z "$pcap" ] || pcap=$(readlink -f "$pcap")
	[ -e "$ROOT/boot/disk-bench" ] ||
		die "the root $root is an older checkout's: renew it with" \
			"scripts/guest root $root"
	boot_make_run_initramfs "$ROOT" "$INITRAMFS" "$RUN/initramfs"
	if [ -n "$packages" ]; then
		# shellcheck disable=SC2086 # a list
		packages_need "$root" $packages
		layers+=("$PACKAGES")
	fi
	if [ "$with_build" = yes ] && build_exists "$root"; then
		run_take_build
	elif [ "$with_build${#layers[@]}" = yes0 ]; then
		say "this checkout is not built for $root: guests have no" \
			"frdma (scripts/guest build -r $root)"
	fi
	[ -z "$kind" ] || layers+=("$KERNEL/install")
	rdma_core=$(rdma_core_source "$root")
}

# Makes the disk with what was last built, not while another run of this checkout
# builds.
run_take_build() {
	local dir

	dir=$(build_dir "$root")
	(
		flock -s 9
		boot_make_disk "$dir/install" "$RUN/build.disk"
	) 9<"$dir/.lock"
	layers+=("$RUN/build.disk")
}

# Appends a disk to QEMU's arguments. Arguments: NAME FILE
qemu_disk() {
	QEMU+=(
		-drive "if=none,id=$1,file=${2//,/,,},format=raw,readonly=on"
		-device "virtio-blk-pci,drive=$1,serial=$1"
	)
}

# Appends a directory of the host to QEMU's arguments.
# Arguments: TAG DIR on|off (read-only)
qemu_share() {
	QEMU+=(
		-fsdev "local,id=$1,path=${2//,/,,},`
			`security_model=none,readonly=$3"
		-device "virtio-9p-pci,fsdev=$1,mount_tag=$1"
	)
}

# Appends guest N's NIC, connected to the only other guest or to the switch.
qemu_network() {
	local n=$1 peer=port$1

	[ "$guests" != 2 ] || peer=nic$((3 - n))
	QEMU+=(-netdev "dgram,id=net,local.type=unix,local.path=nic$n,`
		`remote.type=unix,remote.path=$peer")
	QEMU+=(-device "virtio-net-pci,netdev=net,romfile=,host_mtu=$mtu,`
		`mac=52:54:00:77:00:$(printf %02x "$n")")
	if [ "$n" = 1 ] && [ -n "$pcap" ]; then
		QEMU+=(-object "filter-dump,id=pcap,netdev=net,maxlen=131072,`
			`file=${pcap//,/,,}")
	fi
}

# Appends how the guest's processors are made.
qemu_processors() {
	case $accel$icount in
	kvm*)	QEMU+=(-accel kvm -cpu "host${cpu:+,$cpu}") ;;
	*yes)	QEMU+=(-accel "tcg,thread=single"
		       -cpu "max,-erms,-fsrm${cpu:+,$cpu}"
		       -icount "shift=0,sleep=off") ;;
	*)	QEMU+=(-accel "tcg,thread=multi" -cpu "max${cpu:+,$cpu}") ;;
	esac
}

# Builds guest N's QEMU command line in QEMU. A booting kernel counts ticks, and
# panics if there are too few: as on a host that has no time for it.
qemu_command() {
	local n=$1 layer number=0 tags=''

	QEMU=(qemu-system-x86_64 -name "frdma$n" -M q35)
	qemu_processors
	QEMU+=(
		-smp "$topology" -m "$mem" -nodefaults -display none -no-reboot
		-serial "file:console-$n"
		-chardev "socket,id=bench,path=hub"
		-device "virtio-serial-pci"
		-device "virtserialport,chardev=bench,name=frdma.bench"
	)
	qemu_network "$n"
	qemu_disk root "$ROOT/boot/disk-bench"
	qemu_share frdma "$TOP" on
	qemu_share results "${results:-$RUN/results}" off
	[ -z "$rdma_core" ] || qemu_share rdma-core "$rdma_core" on
	for layer in "${layers[@]}"; do
		number=$((number + 1))
		if [ -d "$layer" ]; then
			qemu_share "layer$number" "$(readlink -f "$layer")" on
		else
			qemu_disk "layer$number" "$layer"
		fi
		tags+=${tags:+,}layer$number
	done
	QEMU+=(
		-kernel "$IMAGE"
		-initrd initramfs
		-append "console=ttyS0 quiet tsc=reliable ${emulation}mitigations=off `
			`no_timer_check panic=-1 oops=panic net.ifnames=0 `
			`rcupdate.rcu_cpu_stall_timeout=$((60 * slow)) `
			`hugepages=$hugepages bench.node=$n `
			`bench.nodes=$guests bench.slow=$slow bench.layers=$tags `
			`${rdma_core:+bench.rdma-core=1 }$systemd$cmdline"
	)
}

# Runs QEMU, which makes the files of /results as its guests want them, without the
# power to make device nodes, setuid and setgid files, and files with capabilities:
# they would be real on this machine. A change of the group ends what "start" has
# set: --pdeathsig again.
QEMU_CONFINED=(
	setpriv --regid 65534 --clear-groups --inh-caps=-all
	"--bounding-set=-all,+chown,+dac_override,+fowner"
	--pdeathsig KILL --
)

# Starts guest N.
guest_start() {
	local n=$1

	qemu_command "$n"
	rm -f "$RUN/nic$n" "$RUN/console-$n"
	: >"$RUN/console-$n"
	start env -C "$RUN" "${QEMU_CONFINED[@]}" "$TOOLS/confine" \
		"${QEMU[@]}" </dev/null 2>>"$RUN/qemu-$n"
	guest_pid[n]=$STARTED
	guest_up[n]=no
	guest_heard[n]=$SECONDS
	guest_bytes[n]=0
}

# Starts the hub, whose reports are the run's events, and the switch.
run_start_hub() {
	event_part=
	mkfifo "$RUN/events"
	exec {EVENTS}<>"$RUN/events"
	start env -C "$RUN" "$TOOLS/agent" serve 0 hub >&"$EVENTS"
	if [ "$guests" != 2 ]; then
		start env -C "$RUN" "$TOOLS/switch" "$guests"
	fi
	while [ ! -S "$RUN/hub" ]; do
		sleep 0.02
	done
}

# Runs a command in guest N. Options of the agent go first.
guest_call() {
	local n=$1

	shift
	env -C "$RUN" "$TOOLS/agent" call hub "$n" -C /frdma "$@"
}

# Ends the run as a failure of guest N, showing the end of its console.
run_fail() {
	local n=$1

	shift
	say "FAILED: guest $n: $*"
	if [ -s "$RUN/console-$n" ]; then
		say "the end of guest $n's console:"
		tail -n 80 "$RUN/console-$n" | tr -d '\r' >&2
	fi
	[ ! -s "$RUN/qemu-$n" ] || tail -n 5 "$RUN/qemu-$n" >&2
	run_keep_consoles
	exit "${run_status:-$FAILED}"
}

# Ends the guests, and leaves the consoles where the user asked for results. A guest
# may have put something else there, such as a link to a file of this machine.
run_keep_consoles() {
	local n

	[ -n "$results" ] || return 0
	for n in "${!guest_pid[@]}"; do
		kill -KILL "${guest_pid[n]}" 2>/dev/null || true
		wait "${guest_pid[n]}" 2>/dev/null || true
		forget "${guest_pid[n]}"
	done
	for n in "${!guest_pid[@]}"; do
		cp -T --remove-destination "$RUN/console-$n" \
			"$results/console-$n" ||
			say "the console of guest $n is not kept in $results"
	done
}

# Starts guest N again, which has not booted, or gives up on it. The emulator now and
# then makes a kernel hang or die, which patches its code while it boots. Reports come
# here only while run_only_boots(). Arguments: N WHY...
run_boot_again() {
	local n=$1

	shift
	guest_tries[n]=$((${guest_tries[n]:-1} + 1))
	[ "${guest_tries[n]}" -le $BOOT_TRIES ] ||
		run_fail "$n" "does not boot: $*; is this machine very busy?"
	say "guest $n $* while booting: starting it again"
	kill -KILL "${guest_pid[n]}" 2>/dev/null || true
	wait "${guest_pid[n]}" 2>/dev/null || true
	forget "${guest_pid[n]}"
	guest_start "$n"
}

# True while nothing of frdma's can have run in guest N. With systemd, links are made
# before the guest is up, once the kernel has come to "setup".
run_only_boots() {
	[ "${guest_up[$1]}" = no ] && {
		[ -z "$systemd" ] ||
			! grep -qa '^bench: setting up' "$RUN/console-$1"
	}
}

# Sets REPORT to the first report in a kernel log; fails if there is none. One
# that cannot be read ends the run. Arguments: those of "reports"
run_find_report() {
	local status=0

	"$PARTS/reports" "$@" >"$RUN/reports" || status=$?
	[ $status -lt 2 ] || die "cannot look for reports: ${*: -1}"
	REPORT=$(head -n 1 "$RUN/reports")
	return $status
}

# Reads the consoles for kernel reports. A report is given time to end.
run_watch_consoles() {
	local n bytes

	for ((n = 1; n <= guests; n++)); do
		bytes=$(stat -c %s "$RUN/console-$n")
		[ "$bytes" != "${guest_bytes[n]}" ] || continue
		guest_bytes[n]=$bytes
		guest_heard[n]=$SECONDS
		run_find_report "$RUN/console-$n" || continue
		sleep 2 &
		wait $! || true
		run_only_boots "$n" || run_fail "$n" "$REPORT"
		run_boot_again "$n" "says '$REPORT'"
	done
}

# Starts a silent guest again, or gives up on it.
run_watch_boot() {
	local n

	for ((n = 1; n <= guests; n++)); do
		[ "${guest_up[n]}" = no ] || continue
		[ $((SECONDS - guest_heard[n])) -ge $((BOOT_SILENCE * slow)) ] ||
			continue
		run_boot_again "$n" "says nothing for $((BOOT_SILENCE * slow)) s"
	done
}

# A guest has ended before its time: of a panic, as its console tells, or else.
run_lose_guest() {
	local n=$1 pid=${guest_pid[$1]}

	run_watch_consoles
	[ "${guest_pid[n]}" = "$pid" ] || return 0
	[ "${guest_up[n]}" = no ] ||
		run_fail "$n" "has ended (power off, or QEMU died)"
	run_boot_again "$n" "has ended"
}

# Notices guests whose QEMU has ended while they booted.
run_watch_qemu() {
	local n

	for ((n = 1; n <= guests; n++)); do
		kill -0 "${guest_pid[n]}" 2>/dev/null || run_lose_guest "$n"
	done
}

# Waits for the next event or for a moment. Sets EVENT, empty if there is none:
# a line may have come in part when the moment is over, and is kept.
run_read_event() {
	local part=

	EVENT=
	if read -r -t 0.5 -u "$EVENTS" part; then
		EVENT=$event_part$part
		event_part=
	else
		event_part+=$part
	fi
}

# Goes one step on: takes note of an event, looks after the guests.
run_step() {
	run_read_event
	case $EVENT in
	"up "*)		guest_up[${EVENT#up }]=yes ;;
	"down "*)	run_lose_guest "${EVENT#down }" ;;
	esac
	run_watch_consoles
	run_watch_boot
	run_watch_qemu
	[ "$SECONDS" -lt "$deadline" ] || {
		run_status=124
		run_fail 1 "no end after $timeout s"
	}
}

# Boots the guests and waits until each can be told what to do.
run_boot() {
	local n how

	guest_pid=() guest_up=() guest_heard=() guest_bytes=() guest_tries=()
	deadline=$((SECONDS + timeout))
	how="under KVM"
	[ $accel = kvm ] || how="emulated, be patient"
	say "booting $guests guest(s) of $root: Linux $kernel, $how"
	run_start_hub
	for ((n = 1; n <= guests; n++)); do
		guest_start "$n"
	done
	while [[ " ${guest_up[*]} " == *" no "* ]]; do
		run_step
	done
}

# Loads frdma and makes its link in all guests.
run_make_links() {
	local n

	for ((n = 1; n <= guests; n++)); do
		guest_call "$n" 'modprobe frdma &&
			rdma link add frdma0 type frdma netdev eth0' || {
			run_watch_consoles
			run_fail "$n" "frdma0 cannot be made on eth0"
		}
	done
}

# Starts the commands of --on; what they print is marked with the guest.
run_start_background() {
	local i n

	for ((i = 0; i < ${#background[@]}; i += 2)); do
		n=${background[i]}
		guest_call "$n" "${background[i + 1]}" 2>&1 |
			sed -u "s/^/[$n] /" &
	done
}

# Runs the command in guest 1 until it ends. Sets STATUS.
run_main() {
	if [ "$pass_stdin" = yes ]; then
		set -- -i "$@"
	fi
	{
		STATUS=0
		guest_call 1 "$@" || STATUS=$?
		echo "done $STATUS" >&"$EVENTS"
	} <&0 &
	EVENT=
	while [[ $EVENT != done* ]]; do
		run_step
	done
	STATUS=${EVENT#done }
}

# The command has ended: have the kernels anything to say?
run_last_look() {
	local n

	for ((n = 1; n <= guests; n++)); do
		guest_call "$n" dmesg >"$RUN/dmesg-$n" 2>&1 ||
			run_fail "$n" "its log cannot be read"
		run_watch_consoles
		run_find_report -f "$PARTS/races" "$RUN/dmesg-$n" || continue
		cp "$RUN/dmesg-$n" "$RUN/console-$n"
		run_fail "$n" "$REPORT"
	done
	run_keep_consoles
}

# Refuses a link where there is nothing that could make one.
run_has_module() {
	[ "$link$with_build${#layers[@]}" != yesyes0 ] ||
		build_exists "$root" ||
		die "this checkout is not built for $root:" \
			"scripts/guest build -r $root"
	[ "$link${kind:+yes}$with_build" != yesyesyes ] ||
		[ -e "$(build_dir "$root")/install/usr/lib/modules/`
			`$(cat "$(kernel_dir "$root" "$kind")/version")" ] ||
		die "this checkout is not built for the $kind kernel:" \
			"scripts/guest build -r $root --$kind"
}

# guest run [OPTION...] [--] CMD...
run_command() {
	run_options "$@"
	[ ${#REST[@]} -gt 0 ] || die "run: no command given; see --help," \
		"or scripts/guest shell for a shell"
	run_has_module
	run_prepare
	run_boot
	[ "$link" = no ] || run_make_links
	run_start_background
	run_main "${REST[@]}"
	run_last_look
	exit "$STATUS"
}

# guest shell [OPTION...]
shell_command() {
	run_options "$@"
	[ ${#REST[@]} = 0 ] || die "shell: what is '${REST[*]}'? A command" \
		"goes to: scripts/guest run"
	[ -t 0 ] || die "shell: this is not a terminal; to have commands read" \
		"from this input: scripts/guest run -l --stdin -- bash"
	[ "$with_build" = no ] || build_command -r "$root"
	timeout=$((30 * 24 * 3600))
	run_prepare
	run_boot
	run_make_links
	run_shells
	run_last_look
}

# Shells in guest 1 and, side by side where tmux is there, in guest 2.
run_shells() {
	local shell="env -C '$RUN' '$TOOLS/agent' call hub" others=

	[ "$guests" = 1 ] || others="; another guest: on 2 -t bash"
	say "leave the shell to end the guests$others"
	if [ "$guests" = 1 ] || [ -n "${TMUX:-}" ] || ! command -v tmux >/dev/null
	then
		run_main -t bash -l
		return
	fi
	{
		env -C "$RUN" tmux -S ./tmux new-session "$shell 1 -C /frdma -t bash -l" \; \
			split-window "$shell 2 -C /frdma -t bash -l" || true
		echo "done 0" >&"$EVENTS"
	} <&0 &
	EVENT=
	while [[ $EVENT != done* ]]; do
		run_step
	done
}
