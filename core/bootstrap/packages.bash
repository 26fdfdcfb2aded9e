# shellcheck shell=bash
# Installs the packages of packages.tsv that are missing. Sourced by ./vas, which sets `here`,
# `yes`, `say` and `die`; sets `python` to the newest Python found.

packages=$here/core/vas_core/packages.tsv
python=
find_python() {
    local candidate
    for candidate in python3.13 python3.12 python3.11 python3; do
        if "$candidate" -c "import sys; sys.exit(sys.version_info < (${1/./, }))" 2>/dev/null; then
            python=$candidate
            return
        fi
    done
    return 1
}

# Whether the java that Maven and the lab start is new enough and has its compiler beside it.
is_jdk() {
    local java
    java=$(command -v "${JAVA_HOME:+$JAVA_HOME/bin/}java") || return 1
    [[ -x $(dirname -- "$(readlink -f -- "$java")")/javac ]] || return 1
    [[ $("$java" -version 2>&1) =~ version\ \"(1\.)?([0-9]+) ]] && ((BASH_REMATCH[2] >= $1))
}

is_there() {
    local other
    case $1 in
        *\|*)
            for other in ${1//|/ }; do is_there "$other" && return; done
            return 1
            ;;
        python:*) find_python "${1#python:}" ;;
        module:*) [[ -n $python ]] && "$python" -c "import ${1#module:}" 2>/dev/null ;;
        jdk:*) is_jdk "${1#jdk:}" ;;
        c:*) cc -E -x c - <<<"#include <${1#c:}>" >/dev/null 2>&1 ;;
        file:*) [[ -f ${1#file:} ]] ;;
        runs:*) find_running "${1#runs:}" >/dev/null ;;
        *) command -v "$1" >/dev/null ;;
    esac
}

# Prints the column of packages.tsv with this system's names: of one that is not known, those of the
# nearest. Its file is read, not run: its lines are assignments, and may be no more than that.
system_column() {
    local ID='' VERSION_ID='' ID_LIKE='' name value release
    [[ $manager == apt-get ]] || { echo rocky; return; }
    for release in "${SYSTEMD_OS_RELEASE:-/etc/os-release}" /usr/lib/os-release; do
        [[ ! -r $release ]] || break
    done
    while IFS='=' read -r name value || [[ -n $name ]]; do
        value=${value//[\"\']/}
        case $name in ID) ID=$value ;; VERSION_ID) VERSION_ID=$value ;; ID_LIKE) ID_LIKE=$value ;; esac
    done < <([[ ! -r $release ]] || cat "$release")
    case $ID:$VERSION_ID:$ID_LIKE in
        debian:?:* | debian:1[0-2]*) echo debian ;;
        debian:*) echo debian13 ;;
        ubuntu:* | *:*:*ubuntu*) echo ubuntu ;;
        *) echo debian ;;
    esac
}

# Sets `lacking` to the probes that fail, of the scopes given, `missing` to their packages, and
# `without` to the probes that no package of this system has.
look() {
    local probe scope debian debian13 ubuntu rocky why column package
    column=$(system_column)
    lacking=() missing=() without=()
    while IFS=$'\t' read -r probe scope debian debian13 ubuntu rocky why; do
        [[ $probe == \#* || " $* " != *" $scope "* ]] && continue
        is_there "$probe" && continue
        case $column in
            debian) package=$debian ;;
            debian13) package=${debian13/#=/$debian} ;;
            ubuntu) package=${ubuntu/#=/$debian} ;;
            rocky) package=$rocky ;;
        esac
        if [[ -n $manager && $package == - ]]; then
            without+=("$probe ($why)")
            continue
        fi
        lacking+=("$probe ($why)")
        [[ " ${missing[*]} " == *" $package "* ]] || missing+=("$package")
    done <"$packages"
}

install_packages() {
    local answer=no manager as_root=() lacking missing without
    manager=$(basename -- "$(command -v apt-get || command -v dnf || true)")
    look "$@"
    for probe in "${without[@]}"; do
        say "no package of this system has $probe: the tests that need it are skipped; docs/packages.md"
    done
    [[ ${#lacking[@]} -gt 0 ]] || return 0
    for probe in "${lacking[@]}"; do say "missing: $probe"; done
    [[ -n $manager ]] || die "neither apt-get nor dnf is here; install the above by hand" 77
    [[ $(id -u) -eq 0 ]] || as_root=(sudo)
    local install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "$manager" install -y -q)
    [[ $manager == apt-get ]] && install+=(--no-install-recommends)
    say "to install, from the distribution's repositories: ${missing[*]}"
    if [[ $yes == true ]]; then
        answer=y
    elif [[ -t 0 ]]; then
        read -r -p "vas: install them now? [y/N] " answer || true
    else
        say "there is no terminal to ask at"
    fi
    [[ $answer == [yY]* ]] || die "nothing was installed; install them, or give --yes before the command" 77
    [[ $manager != apt-get ]] || "${as_root[@]}" apt-get update -qq >&2
    "${install[@]}" "${missing[@]}" >&2 || die "$manager did not install them; see above"
    hash -r
    look "$@"
    [[ ${#lacking[@]} -eq 0 ]] || die "installed, but not found: ${lacking[*]}; put it first on PATH (a JDK: set JAVA_HOME)" 77
}
