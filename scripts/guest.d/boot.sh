# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What a guest boots: the root's kernel, uncompressed, a small initramfs, and the
# disk with the root that it mounts; and whether KVM can boot it.

# Modules the initramfs loads, with what they depend on. Built-in ones and
# ones a kernel does not have are no error: 6.1 has more modules than 6.12.
BOOT_MODULES=(virtio_pci virtio_console virtio_blk ext4 9pnet_virtio 9p overlay
	virtio_net)

# The kernels of a root, oldest first.
boot_kernels() {
	find "$1/usr/lib/modules" -mindepth 1 -maxdepth 1 -printf '%f\n' |
		sort -V
}

# The kernel image of a root; later releases keep it with the modules.
boot_vmlinuz() {
	local dir=$1 version=$2 image

	for image in "$dir/boot/vmlinuz-$version" \
		     "$dir/usr/lib/modules/$version/vmlinuz"; do
		[ ! -e "$image" ] || {
			echo "$image"
			return
		}
	done
	die "no kernel image of $version in $dir"
}

# A little-endian number of WIDTH bytes at OFFSET of a file.
number_at() {
	od -An -v -j "$2" -N "$3" -t "u$3" "$1" | tr -d ' '
}

# Unpacks the ELF kernel from a bzImage, which says in its header where the
# payload lies (Documentation/arch/x86/boot.rst: payload_offset and
# payload_length). The payload ends with its unpacked size, 4 bytes.
boot_unpack_kernel() {
	local image=$1 sectors offset length magic unpack

	sectors=$(number_at "$image" $((0x1f1)) 1)
	offset=$(number_at "$image" $((0x248)) 4)
	length=$(number_at "$image" $((0x24c)) 4)
	offset=$(((sectors + 1) * 512 + offset))
	magic=$(od -An -v -j $offset -N 4 -t x1 "$image" | tr -d ' ')
	case $magic in
	fd377a58)	unpack=xz:xz-utils ;;
	28b52ffd)	unpack=zstd:zstd ;;
	1f8b*)		unpack=gzip:gzip ;;
	*)		die "$image: unknown compression ($magic)" ;;
	esac
	need_commands "$unpack"
	dd if="$image" bs=64K iflag=skip_bytes,count_bytes status=none \
		skip=$offset count=$((length - 4)) | "${unpack%%:*}" -dc
}

# Prints the files of BOOT_MODULES and their dependencies in loading order.
boot_module_files() {
	local dir=$1 version=$2 module

	for module in "${BOOT_MODULES[@]}"; do
		chroot "$dir" modprobe -S "$version" --show-depends "$module" \
			2>/dev/null || true
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}

# Makes an initramfs's directory, with the busybox of a root in it.
boot_make_tree() {
	local dir=$1 tree=$2

	rm -rf "$tree"
	mkdir -p "$tree"/{bin,modules,dev,proc,sys,root,rw,new}
	cp "$dir/usr/bin/busybox" "$tree/bin/busybox" 2>/dev/null ||
		cp "$dir/bin/busybox" "$tree/bin/busybox"
}

# Makes the part of the initramfs that belongs to the root: busybox and the
# modules, unpacked, numbered in the order in which they are to be loaded.
boot_make_initramfs() {
	local dir=$1 version=$2 tree file name number=100

	tree=$dir/boot/initramfs.tree
	boot_make_tree "$dir" "$tree"
	for file in $(boot_module_files "$dir" "$version"); do
		number=$((number + 1))
		name=${file##*/}
		case $name in
		*.xz)	xz -dc "$dir$file" ;;
		*.zst)	zstd -dcq "$dir$file" ;;
		*)	cat "$dir$file" ;;
		esac >"$tree/modules/$number-${name%.ko*}.ko"
	done
	pack_cpio "$dir" "$tree" >"$dir/boot/initramfs-bench-$version"
	rm -rf "$tree"
}

# Packs a directory as the kernel wants it, with the busybox of a root.
pack_cpio() {
	local busybox=$1/usr/bin/busybox

	[ -e "$busybox" ] || busybox=$1/bin/busybox
	(cd "$2" && find . | "$busybox" cpio -o -H newc 2>/dev/null)
}

# Makes a disk of what is in a directory, to be read only. Guests read from disks
# what they run: over 9p each open() is a dialogue with the host, which a guest
# with several CPUs spends on waiting for its locks. Arguments: DIR DISK
boot_make_disk() {
	local dir=$1 disk=$2 mib allocated files

	need_commands mke2fs:e2fsprogs
	# Less is allocated than there is where the file system compresses.
	mib=$(du -sm --apparent-size "$dir" | cut -f 1)
	allocated=$(du -sm "$dir" | cut -f 1)
	[ "$mib" -ge "$allocated" ] || mib=$allocated
	files=$(du -s --inodes "$dir" | cut -f 1)
	rm -f "$disk"
	truncate -s $((mib * 9 / 8 + 64))M "$disk"
	mke2fs -q -t ext4 -O ^has_journal -b 4096 -I 256 -m 0 \
		-N $((files + 1000)) -d "$dir" "$disk"
}

# The disk of a root, which is made beside it: it does not hold itself.
boot_make_root_disk() {
	boot_make_disk "$1" "$1.disk"
	mv "$1.disk" "$1/boot/disk-bench"
}

# Makes everything the guests of a root boot from, for kernels that have come.
boot_prepare() {
	local dir=$1 version

	need_commands xz:xz-utils
	for version in $(boot_kernels "$dir"); do
		[ ! -e "$dir/boot/initramfs-bench-$version" ] || continue
		boot_unpack_kernel "$(boot_vmlinuz "$dir" "$version")" \
			>"$dir/boot/vmlinux-bench-$version"
		boot_make_initramfs "$dir" "$version"
		mkdir -p "$dir/usr/lib/modules/$version/updates"
	done
}

# The bench's own programs, compiled in the root: they are static, so guests of
# any root run them, and this machine too. Sets TOOLS.
boot_need_tools() {
	local dir=$1 part

	TOOLS=$CACHE/tools/$(cat "$PARTS"/*.c | sha256sum | cut -c 1-16)
	[ ! -d "$TOOLS" ] || return 0
	cache_make tools
	part=$TOOLS.$$
	mkdir -p "$part"
	RUBBISH+=("$part")
	# shellcheck disable=SC2016 # for the inner shell
	root_run "$dir" ro "frdma=$PARTS" "results+=$part" -- \
		sh -c 'for name in agent switch tsc confine; do
			gcc -O2 -Wall -static -o "/results/$name" \
				"/frdma/$name.c" || exit
		done' || die "the bench's own programs do not compile"
	mv -T "$part" "$TOOLS" 2>/dev/null || [ -d "$TOOLS" ]
}

# Makes a run's initramfs: the kernel's part and the bench's programs.
boot_make_run_initramfs() {
	local dir=$1 part=$2 out=$3 tree=$3.tree

	mkdir -p "$tree/bench"
	cp "$PARTS/init" "$tree/init"
	cp "$PARTS/setup" "$PARTS/on" "$tree/bench/"
	cp "$TOOLS/agent" "$tree/bench/agent"
	chmod 755 "$tree/init" "$tree/bench/"*
	{
		cat "$part"
		pack_cpio "$dir" "$tree"
	} >"$out"
	rm -rf "$tree"
}

# True if a guest really boots under KVM: the device node alone says little.
# Tried once per boot of this machine; the answer is kept in the cache.
boot_kvm_works() {
	local dir=$1 version now answer

	[ -w /dev/kvm ] || return 1
	now=$(cat /proc/sys/kernel/random/boot_id)
	if ! grep -qs "^$now" "$CACHE/kvm"; then
		version=$(boot_kernels "$dir" | tail -n 1)
		answer=no
		! boot_probe_kvm "$dir" "$version" || answer=yes
		say "does a guest boot under KVM here: $answer"
		echo "$now $answer" >"$CACHE/kvm"
	fi
	grep -q yes "$CACHE/kvm"
}

# Boots the root's kernel under KVM with an init that only says it is alive.
boot_probe_kvm() {
	local dir=$1 version=$2 tree

	work_make kvm
	tree=$WORK
	mkdir -p "$tree/root/bin" "$tree/root/dev"
	cp "$dir/usr/bin/busybox" "$tree/root/bin/" 2>/dev/null ||
		cp "$dir/bin/busybox" "$tree/root/bin/"
	cat >"$tree/root/init" <<-'EOF'
		#!/bin/busybox sh
		/bin/busybox mount -t devtmpfs devtmpfs /dev
		echo bench-alive >/dev/ttyS0
		/bin/busybox poweroff -f
	EOF
	chmod 755 "$tree/root/init"
	pack_cpio "$dir" "$tree/root" >"$tree/initramfs"
	timeout -k 1 10 setpriv --pdeathsig KILL -- \
		qemu-system-x86_64 -M q35 -accel kvm -cpu host -m 256 \
		-nodefaults -display none -no-reboot -serial stdio \
		-kernel "$dir/boot/vmlinux-bench-$version" \
		-initrd "$tree/initramfs" -append 'console=ttyS0 quiet panic=-1' \
		</dev/null 2>/dev/null | grep -q bench-alive
}
