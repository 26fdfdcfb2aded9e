# shellcheck shell=bash
# Builds vas-shuffled, the shuffle's daemon for node-local disks, where a Rust compiler is. Sourced by
# ./vas, which sets `here` and `say` and `die`.

# Prints the first program of this name that runs and is new enough (rust-version of
# shuffled/Cargo.toml): rustup's stand-in is on PATH without a compiler too, and Ubuntu has a newer
# one beside its own, with the version in its name.
find_running() {
    local found
    while read -r found; do
        [[ $("$found" --version 2>/dev/null) =~ \ ([0-9]+)\.([0-9]+) ]] || continue
        ((BASH_REMATCH[1] > 1 || BASH_REMATCH[2] >= 85)) || continue
        printf '%s\n' "$found"
        return
    done < <(type -ap "$1" "$1-1.85")
    return 1
}

build_native() {
    local made=$here/shuffled/target/release/vas-shuffled cargo rustc remapped
    [[ -f $here/shuffled/Cargo.toml ]] || return 0
    if ! cargo=$(find_running cargo) || ! rustc=$(find_running rustc); then
        say "vas-shuffled is left out, as no Rust compiler is here; \`$VAS_PROGRAM build --native\` installs one"
        return 0
    fi
    [[ ! -x $made || -n $(find "$here/shuffled" -path "$here/shuffled/target" -prune -o -type f -newer "$made" -print -quit) ||
        "$here/core/bootstrap/native.bash" -nt $made ]] || return 0
    say "building vas-shuffled (first time: about a minute)"
    # The program names source files in its panics: by names that are the same wherever it is built.
    printf -v remapped -- '--remap-path-prefix=%s=%s\x1f' "$here" /vas "${CARGO_HOME:-$HOME/.cargo}" /cargo
    RUSTC=$rustc CARGO_ENCODED_RUSTFLAGS=${remapped%$'\x1f'} "$cargo" build --quiet --release --locked --manifest-path "$here/shuffled/Cargo.toml" >&2 ||
        die "cargo did not build vas-shuffled; see above"
    touch "$made"
}
