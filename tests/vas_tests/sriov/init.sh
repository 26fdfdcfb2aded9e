#!/bin/busybox sh
# /init of a machine of the rig. $VAS_NODE, and $VAS_PYTHON and $VAS_AGENT or $VAS_DISK, come by the
# kernel's command line. The machine below, read-only, is the root, and what is written stays in
# memory; or a disk is, with a distribution that has no kernel of its own.
set -e
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t devtmpfs dev /dev
while read -r module; do $b insmod "/modules/$module"; done < /modules/order
$b mount -t 9p -o trans=virtio,version=9p2000.L,ro,msize=512000,cache=loose root /low
if [ -n "$VAS_DISK" ]; then
    $b mount -t ext4 "$VAS_DISK" /root
    $b mkdir -p /root/usr/lib/modules
    $b mount -o bind /low/lib/modules /root/usr/lib/modules
else
    $b mount -t tmpfs high /high
    $b mkdir /high/upper /high/work
    $b mount -t overlay -o lowerdir=/low,upperdir=/high/upper,workdir=/high/work root /root
fi
$b mount -t tmpfs run /root/run
$b mount -t proc proc /root/proc
$b mount -t sysfs sys /root/sys
$b mount --move /dev /root/dev
$b hostname "$VAS_NODE"
if [ -n "$VAS_DISK" ]; then
    exec $b switch_root /root /lib/systemd/systemd
fi
# What a guest reads of this machine need not go through the overlay.
$b mount --move /low /root/mnt
exec $b switch_root /root "$VAS_PYTHON" -I "$VAS_AGENT" "$VAS_NODE"
