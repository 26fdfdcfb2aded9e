# shellcheck shell=bash
# Builds the YARN plugins and assembles Hadoop, when a source is newer than the jars. Sourced by
# ./vas, which sets `here`, `build`, `say` and `die`.

# A source of the plugins that is newer than the last build, or a directory that has lost one.
newer_source() {
    cd "$here" && find yarn-plugins cluster/cluster.schema.json -name target -prune -o \
        \( -path '*/src' -o -path '*/src/*' -o -name pom.xml -o -name '*.json' \) \
        -newer "$1" -print -quit
}

# Sets `why` to the reason for a build; fails when the jars are as the sources are.
is_stale() {
    local jars newer took
    jars=$(compgen -G "$here/yarn-plugins/dist/target/vas-yarn-plugins-*.jar" &&
        compgen -G "$here/yarn-plugins/hadoop/target/lib/hadoop-common-*.jar") || jars=
    if [[ ! -e $1 || -z $jars ]]; then
        why="building the plugins and fetching Hadoop from Maven Central (first time: 1 to 3 minutes)"
    elif newer=$(newer_source "$1") && [[ -n $newer ]]; then
        took=$(<"$1")
        why="building the plugins again, because $newer has changed${took:+ (the last build took $took s)}"
    else
        return 1
    fi
}

# A JVM that loads from a jar that is replaced fails in odd ways, so no lab may run on them.
refuse_under_a_lab() {
    local file words state where
    for file in /proc/[0-9]*/cmdline; do
        { mapfile -d '' -t words <"$file"; } 2>/dev/null || continue
        [[ " ${words[*]} " == *" vas_lab.inside.supervisor "* ]] || continue
        state=${words[-1]}
        grep -qsF "$here/yarn-plugins/" "$state/spec.json" || continue
        where=
        [[ ${state%/*} == "${VAS_LABS:-$here/build/lab}" ]] || printf -v where 'VAS_LABS=%q ' "${state%/*}"
        die "the lab in $state runs on the jars that must be built again; end it first: \`${where}$VAS_PROGRAM lab down --name ${state##*/}\`"
    done
}

# Sets `repository` to Maven's local repository, by the rules that Maven itself goes by.
find_repository() {
    local file maven
    [[ ! " ${MAVEN_ARGS-} ${MAVEN_OPTS-} " =~ \ -Dmaven\.repo\.local=([^\ ]+) ]] || {
        repository=${BASH_REMATCH[1]}
        return
    }
    maven=$(dirname -- "$(readlink -f -- "$(command -v mvn)")")
    for file in ~/.m2/settings.xml "$maven/../conf/settings.xml"; do
        repository=$(repository_of "$file")
        repository=${repository//"\${user.home}"/$HOME}
        [[ $repository != *"\${"* ]] ||
            die "$file: localRepository $repository is not understood; set MAVEN_OPTS=-Dmaven.repo.local=DIRECTORY"
        [[ -z $repository ]] || return 0
    done
    repository=~/.m2/repository
}

# Prints the local repository that a file of Maven's settings names, if it names one.
repository_of() {
    local text rest
    [[ -f $1 ]] || return 0
    text=$(<"$1")
    while [[ $text == *'<!--'* ]]; do
        rest=${text#*'<!--'}
        text=${text%%'<!--'*}${rest#*'-->'}
    done
    [[ ! $text =~ \<localRepository\>[[:space:]]*([^<]*[^<[:space:]])[[:space:]]*\</localRepository\> ]] ||
        printf '%s\n' "${BASH_REMATCH[1]}"
}

# Refuses a local repository with a recorded jar that differs: Maven would run it, if it is one of its
# plugins, before anything could be compared. Sets `repository`, for Maven to be told that one and no other.
check_repository() {
    local here_already=() sum path
    find_repository
    [[ $repository == /* ]] || repository=$here/$repository
    while read -r sum path; do
        [[ ! -e $repository/$path ]] || here_already+=("$sum  $path")
    done <"$here/core/locks/maven.sha256"
    [[ ${#here_already[@]} -gt 0 ]] || return 0
    (cd -- "$repository" && printf '%s\n' "${here_already[@]}" | sha256sum --check --quiet >&2) ||
        die "$repository: a jar is not the recorded one, so Maven was not started; remove it, and it is fetched again (where a version was changed on purpose: core/locks/record)"
}

# Whether every jar is the recorded one: those of the local repository that the lock names, and that
# Hadoop's directory has no other. Prints what differs. Maven itself compares each download with the
# registry's own checksum (yarn-plugins/.mvn/maven.config), which a changed registry would change too.
are_jars_recorded() {
    local lock=$here/core/locks/maven.sha256 lib=$here/yarn-plugins/hadoop/target/lib classpath repository
    classpath=$(<"$here/yarn-plugins/hadoop/target/classpath")
    repository=${classpath%%/org/apache/hadoop/*}
    (cd -- "${repository##*:}" && sha256sum --check --quiet --ignore-missing -- "$lock") || return 1
    ! find "$lib" -name '*.jar' -printf '%f\n' | grep -vxF -f <(sed 's|.*/||' "$lock") ||
        { say "these jars are not in core/locks/maven.sha256"; return 1; }
}

build_plugins() {
    local stamp=$build/plugins-built log=$build/maven.log why repository
    is_stale "$stamp" || return 0
    refuse_under_a_lab
    check_repository
    say "$why"
    SECONDS=0
    : >"$stamp.new"
    # Classes whose source is gone would stay in the jars, and jars that are left out now in the directory.
    rm -rf -- "$here"/yarn-plugins/*/target/{classes,test-classes} "$here/yarn-plugins/hadoop/target/lib"
    quietly "$log" env -C "$here" mvn -q -B -f yarn-plugins/pom.xml "-Dmaven.repo.local=$repository" package \
        -Dmaven.test.skip=true || {
        tail -n 30 "$log" >&2
        die "the build failed; the whole log is $log"
    }
    are_jars_recorded 2>&1 | tee -a "$log" >&2 ||
        die "a jar is not the recorded one, so this build is not used; where a version was changed on purpose: core/locks/record"
    echo "$SECONDS" >"$stamp"
    touch -r "$stamp.new" "$stamp"
    rm "$stamp.new"
}
