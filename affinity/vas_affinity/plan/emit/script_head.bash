# No plan has a line of every kind.
# shellcheck disable=SC2329
set -euo pipefail

failed=0

# Says that a line did nothing, and lets the others be done.
miss() {
    echo "$0: $*" >&2
    failed=1
}

# only_on HOST: a plan is of one machine, and CPU numbers of another mean nothing.
only_on() {
    local here
    here=$(uname -n)
    if [[ $here != "$1" && ${here%%.*} != "$1" && ${VAS_ANY_HOST:-} != 1 ]]; then
        echo "$0: is for $1, and this is $here; VAS_ANY_HOST=1 runs it all the same" >&2
        exit 2
    fi
}

# pages NODE KIB COUNT: at least so many huge pages on a node, before the guest starts.
pages() {
    local file=/sys/devices/system/node/node$1/hugepages/hugepages-$2kB/nr_hugepages
    if [[ ! -e $file ]]; then
        miss "node $1 has no huge pages of $2 KiB"
        return
    fi
    if (($(<"$file") < $3)); then
        echo "$3" >"$file"
    fi
    if (($(<"$file") < $3)); then
        miss "node $1 gave $(<"$file") of $3 pages of $2 KiB: its memory is in use or in pieces"
    fi
}

# guest COMMAND DOMAIN ARGUMENTS: in the guest's definition, and now if it runs.
guest() {
    virsh "$@" --config || miss "not defined so: $*"
    if [[ $(virsh domstate "$2") == running ]]; then
        virsh "$@" --live || miss "not done for the running guest: $*"
    fi
}

# defined COMMAND DOMAIN ARGUMENTS: in the guest's definition only.
defined() {
    virsh "$@" --config || miss "not defined so: $*"
}

# is_of INTERRUPT DEVICE: numbers are given again, after a boot or when a driver is loaded.
is_of() {
    local near
    for near in /sys/class/*/"$2"/device /sys/bus/pci/devices/"$2"; do
        [[ -e $near ]] || continue
        near=$(realpath "$near")
        while [[ $near == /sys/devices/* ]]; do
            if [[ -e $near/msi_irqs/$1 ]]; then
                return
            fi
            near=${near%/*}
        done
    done
    return 1
}

# interrupt NUMBER DEVICE CPUS
interrupt() {
    if ! is_of "$1" "$2"; then
        miss "interrupt $1 is not one of $2: make the plan again"
    elif ! echo "$3" 2>/dev/null >"/proc/irq/$1/smp_affinity_list"; then
        miss "the kernel does not let interrupt $1 of $2 be moved"
    fi
}

# thread ID START CPUS: one that ended, and whose number another has now, is left alone.
thread() {
    local stat fields
    if ! stat=$(cat "/proc/$1/stat" 2>/dev/null); then
        miss "thread $1 has ended: make the plan again"
        return
    fi
    read -ra fields <<<"${stat##*) }"
    if [[ ${fields[19]} != "$2" ]]; then
        miss "thread $1 is another now: make the plan again"
    else
        taskset --cpu-list --pid "$3" "$1" >/dev/null || miss "thread $1 cannot be moved"
    fi
}
