#!/bin/sh
# Makes the file system of a machine of what a host in namespaces left on its disk: server.sh TREE
# DISK IMAGE. systemd looks into directories all the time: by 9p, it would answer nobody in time.
set -eu
tree=$1 disk=$2
mount --make-rprivate /
mount -t overlay -o "lowerdir=$tree,upperdir=$disk/upper,workdir=$disk/work" overlay /mnt
# What finds the devices that a host in namespaces has not; in a chroot nothing of it starts.
DEBIAN_FRONTEND=noninteractive chroot /mnt apt-get -q -q -y --no-install-recommends install udev >&2
mke2fs -q -t ext4 -d /mnt "$3" 3G
