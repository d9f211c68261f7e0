# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
#
# For the postinst and the postrm of frdma-dkms, and for make install; #VERSION#
# is the source's.

# An initramfs that holds the module is made again: with the one that there is
# now, or without it. Debian, Fedora, openSUSE and systemd-boot name the file
# each in their own way.
refresh() {
	for image in /boot/initrd.img-* /boot/initramfs-*.img /boot/initrd-* \
			/boot/*/*/initrd /boot/efi/*/*/initrd /efi/*/*/initrd; do
		[ -f "$image" ] || continue
		version=$(kernel_of "$image")
		# A copy that somebody has put by is no kernel's.
		[ -d "/lib/modules/$version" ] || continue
		! has_module "$image" || make_image "$image" "$version"
	done
}

# The release of the kernel that an initramfs belongs to.
kernel_of() {
	kernel=${1%/initrd}
	kernel=${kernel##*/}
	kernel=${kernel#initrd.img-}
	kernel=${kernel#initrd-}
	kernel=${kernel#initramfs-}
	echo "${kernel%.img}"
}

# Arguments: IMAGE VERSION
make_image() {
	if command -v update-initramfs >/dev/null; then
		set -- update-initramfs -u -k "$2"
	else
		set -- dracut --force "$1" "$2"
	fi
	"$@" || echo "frdma: the initramfs of Linux $version stays as it was: $*"
}

# The one comes with initramfs-tools, the other with dracut.
has_module() {
	{ lsinitramfs "$1" || lsinitrd "$1"; } 2>/dev/null |
		grep '/frdma\.ko' >/dev/null
}

# depmod.d has modprobe take the module of DKMS.
tell_of_make_install() {
	for module in /lib/modules/*/updates/frdma.ko; do
		[ ! -e "$module" ] || echo "frdma: make install has left" \
			"$module, which the package's module replaces:" \
			"rm $module"
	done
}

# DKMS says little of a kernel that it builds nothing for.
tell_if_missing() {
	version=$(uname -r)
	[ -d "/lib/modules/$version" ] || return 0
	! modinfo -k "$version" frdma >/dev/null 2>&1 || return 0
	echo "frdma: there is no module for Linux $version, which runs."
	if [ ! -e "/lib/modules/$version/build" ]; then
		echo "frdma: the headers of that are missing: apt-get install" \
			"linux-headers-$version; if there is no such package," \
			"install a newer kernel with its headers, and boot that"
		return 0
	fi
	# shellcheck source=kernel/compat/range
	. "/usr/src/frdma-#VERSION#/compat/range"
	echo "frdma: it is for Linux $FRDMA_OLDEST_KERNEL to" \
		"$FRDMA_NEWEST_KERNEL without PREEMPT_RT, and with RDMA" \
		"(CONFIG_INFINIBAND); FRDMA_ANY_KERNEL=1 dkms install" \
		"frdma/#VERSION# -k $version tries another one that has RDMA"
}

# systemd and udev read their files again.
reload() {
	udevadm control --reload 2>/dev/null || true
	[ ! -d /run/systemd/system ] || systemctl daemon-reload || true
}
