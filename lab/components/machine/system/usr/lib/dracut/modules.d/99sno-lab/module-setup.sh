#!/bin/bash
# What CoreOS adds to dracut and Ignition: fedora-coreos-config, overlay.d/05core, modules
# 35coreos-live, 35coreos-ignition and 35coreos-network, with the names of its units and files.

depends() {
  echo systemd network network-manager ignition ostree
}

installkernel() {
  instmods loop squashfs isofs ext4 vfat nls_ascii nls_cp437 overlay
  instmods virtio_pci virtio_mmio virtio_blk virtio_scsi virtio_net virtio_console virtio_rng
  instmods sd_mod sr_mod cdrom ahci ata_piix nvme uas usb-storage xhci-pci ehci-pci uhci-hcd
  instmods dm-mod dm-multipath e1000 e1000e
}

enable_unit() {
  inst_simple "$moddir/$1" "$systemdsystemunitdir/$1"
  systemctl -q --root="$initdir" add-requires "$2" "$1" || exit 1
}

install() {
  inst_multiple basename cpio curl cut lsblk mktemp partx readlink resize2fs sfdisk sgdisk \
    stat truncate umount mkfs.ext4 cp
  inst_simple /etc/mke2fs.conf
  inst_simple /usr/lib/systemd/system.conf.d/10-machine.conf
  # The same identity at DHCP servers as the system's.
  inst_simple /etc/NetworkManager/conf.d/10-dhcp.conf
  # Names of devices, for people: half as large as everything else.
  rm -f "$initdir/usr/lib/udev/hwdb.bin"
  inst_simple "$moddir/is-live-image" /usr/bin/is-live-image
  inst_simple "$moddir/live-generator" "$systemdutildir/system-generators/live-generator"
  for name in coreos-copy-firstboot-network coreos-enable-network coreos-ignition-setup-user \
    coreos-livepxe-rootfs coreos-teardown-initramfs growfs ignition-ostree-mount-var \
    prepare-live-root; do
    inst_simple "$moddir/$name.sh" "/usr/sbin/$name"
  done
  enable_unit coreos-ignition-setup-user.service ignition-complete.target
  enable_unit coreos-enable-network.service ignition-complete.target
  enable_unit coreos-copy-firstboot-network.service ignition-complete.target
  enable_unit coreos-teardown-initramfs.service ignition-complete.target
  enable_unit growfs.service ignition-diskful.target
  enable_unit ignition-ostree-mount-var.service ignition-diskful.target
  enable_unit prepare-live-root.service initrd-root-fs.target
  inst_simple "$moddir/coreos-livepxe-rootfs.service" \
    "$systemdsystemunitdir/coreos-livepxe-rootfs.service"
}
