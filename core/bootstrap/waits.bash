# shellcheck shell=bash
# Waits for programs that take minutes. Sourced by ./vas, which sets `say`.

# Runs a program with all that it prints in the file $1; a dot every two seconds says on a terminal
# that it goes on. A user's Ctrl-C ends ./vas with one word, not with what the program says of it:
# run under `locked`, this ends the subshell by the signal, and ./vas itself says the word.
quietly() {
    local log=$1 ticker='' status=0
    shift
    # Without the descriptor of the lock: a dot's sleep must not hold it.
    [[ ! -t 2 ]] || { while sleep 2; do printf . >&2; done 9>&- & ticker=$!; }
    trap 'end_dots "$ticker"; trap - INT; kill -INT "$BASHPID"' INT
    "$@" >"$log" 2>&1 || status=$?
    trap - INT
    end_dots "$ticker"
    return "$status"
}

end_dots() {
    [[ -n $1 ]] || return 0
    # The terminal sends Ctrl-C to the loop that prints dots as well: it may have ended already.
    kill "$1" 2>/dev/null || true
    printf '\n' >&2
}
