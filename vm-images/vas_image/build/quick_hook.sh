#!/bin/sh
# The last hook of mmdebstrap: finishes the tree $1 with the definition's own scripts, and makes of
# it what $VAS_OUTPUT is to have.
set -eu
root=$1

cp "$VAS_DEFINITION/mkosi.postinst.chroot" "$root/postinst"
chroot "$root" env -i SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" /postinst
rm "$root/postinst"

cp "$root"/boot/vmlinuz-* "$VAS_OUTPUT/vas-guest.vmlinuz"
cp "$root"/boot/initrd.img-* "$VAS_OUTPUT/vas-guest.initrd"
# mkosi keeps these in the disk's other partition.
rm "$root"/boot/initrd.img-* "$root"/boot/vmlinuz-* "$root"/boot/System.map-*
rm -f "$root"/initrd.img* "$root"/vmlinuz*
cp "$root/var/lib/dpkg/status" "$VAS_OUTPUT/dpkg-status"

BUILDROOT=$root "$VAS_DEFINITION/mkosi.finalize"

# The first start grows the file system to its disk.
cat >"$root/etc/fstab" <<'FSTAB'
LABEL=vas-root / ext4 errors=remount-ro 0 1
FSTAB

# Bound elsewhere, the tree is without what mmdebstrap mounted in it, like /proc.
mkdir -p "$VAS_OUTPUT/tree"
unshare --mount sh -euc '
    mount --bind "$1" "$VAS_OUTPUT/tree"
    cd "$VAS_OUTPUT"
    # No file is younger than the snapshot, and what is the same in two builds has the same digest.
    find tree -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    # The JVM writes another archive of the same classes each time.
    tar --exclude=tree/var/lib/vas/cds --sort=name --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - tree |
        sha256sum | cut -d" " -f1 >tree-digest
    size=$(du -sm tree | cut -f1)
    truncate -s "$((size * 5 / 4 + 256))M" vas-guest.raw
    mke2fs -q -F -t ext4 -L vas-root -m 1 -d tree vas-guest.raw
' sh "$root"
rmdir "$VAS_OUTPUT/tree"
