# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
#
# For the postinst and the postrm of frdma-dkms.

# An initramfs that holds the module is made again: with the one that there is
# now, or without it.
refresh() {
	command -v update-initramfs >/dev/null || return 0
	for image in /boot/initrd.img-*; do
		[ -e "$image" ] || continue
		! lsinitramfs "$image" 2>/dev/null | grep -q '/frdma\.ko' ||
			update-initramfs -u -k "${image#/boot/initrd.img-}"
	done
}

# systemd and udev read their files again.
reload() {
	udevadm control --reload 2>/dev/null || true
	[ ! -d /run/systemd/system ] || systemctl daemon-reload || true
}
