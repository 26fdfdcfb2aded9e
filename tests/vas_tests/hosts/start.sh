#!/bin/sh
# Makes a host of the namespaces that it is started in:
# start.sh TREE NAME KEY DISK [TARGET=SOURCE]... Its files are the tree's, and what it writes is on
# DISK, a directory; it ends with its process 1. Each SOURCE, a directory of this machine, is
# mounted at TARGET before process 1 starts.
set -eu
tree=$1 name=$2 key=$3 disk=$4
shift 4
mount --make-rprivate /
mount -t tmpfs -o mode=0755 tmpfs /mnt
mkdir -p "$disk/upper" "$disk/work" /mnt/root
mount -t overlay -o "lowerdir=$tree,upperdir=$disk/upper,workdir=$disk/work" overlay /mnt/root
cd /mnt/root

# What is not a namespace's own is this machine's: parameters, interrupts. Both are out of reach.
mount -t proc proc proc
mkdir /mnt/net
mount --bind proc/sys/net /mnt/net
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount --bind /mnt/net proc/sys/net
mount -t tmpfs -o ro tmpfs proc/irq
mount -t sysfs sysfs sys
case " $*" in
    *" /sys/fs/"*) # where the kernel lets nobody make a directory
        mount -t tmpfs -o mode=0755 tmpfs sys/fs
        mkdir sys/fs/cgroup
        ;;
esac
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=0755 tmpfs dev
for node in null zero full random urandom tty; do
    : >"dev/$node"
    mount --bind "/dev/$node" "dev/$node"
done
mkdir dev/net dev/pts dev/shm
if [ -e /dev/net/tun ]; then # for guests' NICs
    : >dev/net/tun
    mount --bind /dev/net/tun dev/net/tun
fi
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
for number in 0:stdin 1:stdout 2:stderr; do
    ln -s "/proc/self/fd/${number%%:*}" "dev/${number#*:}"
done
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t tmpfs -o mode=0755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
for shared; do
    mkdir -p ".${shared%%=*}"
    mount --bind "${shared#*=}" ".${shared%%=*}"
done

hostname "$name"
if [ ! -e "$disk/upper/etc/hostname" ]; then
    echo "$name" >etc/hostname
    printf '127.0.0.1 localhost\n' >etc/hosts
fi
mkdir -p root/.ssh run/sshd
cp "$key" root/.ssh/authorized_keys
chmod 0700 root root/.ssh
chmod 0600 root/.ssh/authorized_keys
chroot . ssh-keygen -A >/dev/null
ip link set lo up

mkdir old
pivot_root . old
umount -l old
rmdir old
# Nor are its clock and its modules to be touched.
exec env -i container=vas PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    setpriv --bounding-set=-sys_time,-sys_module /lib/systemd/systemd --log-target=journal
