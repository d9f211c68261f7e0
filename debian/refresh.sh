# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
#
# For the postinst and the postrm of frdma-dkms.

# An initramfs that holds the module is made again: with the one that there is
# now, or without it.
refresh() {
	command -v update-initramfs >/dev/null || return 0
	for image in /boot/initrd.img-*; do
		version=${image#/boot/initrd.img-}
		# A copy that somebody has put by is no kernel's.
		[ -d "/lib/modules/$version" ] || continue
		! has_module "$image" || update-initramfs -u -k "$version"
	done
}

# The one comes with initramfs-tools, the other with dracut.
has_module() {
	{ lsinitramfs "$1" || lsinitrd "$1"; } 2>/dev/null |
		grep -q '/frdma\.ko'
}

# systemd and udev read their files again.
reload() {
	udevadm control --reload 2>/dev/null || true
	[ ! -d /run/systemd/system ] || systemctl daemon-reload || true
}
