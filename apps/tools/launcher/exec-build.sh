# Sourced by the launcher of a checkout for rdma4j exec: compiles the C library, and creates the ahead-of-time cache of
# its virtual machine.
# shellcheck shell=sh disable=SC2034,SC2154

find_library() {
    library=$build_dir/native
    exec_home=$jdk
    RDMA4J_EXEC_MODULES=$modules
    ! is_library_stale || build_library
    look_at_exec_cache
}

# Compiles the library. Each new file replaces the old one with one rename, so that running programs keep the file that
# they have loaded.
build_library() {
    if [ ! -w "$build_dir" ]; then
        [ ! -f "$library/libibverbs.so.1" ] &&
            exec_fail 2 "cannot write to $build_dir: run once as the owner of the checkout, or set RDMA4J_BUILD_DIR to a folder of your own."
        echo "rdma4j exec: apps/exec/native is newer than the library, but $build_dir cannot be written: using the old library" >&2
        return
    fi
    command -v "${CC:-cc}" >/dev/null 2>&1 ||
        exec_fail 2 "there is no C compiler (${CC:-cc}) to build the library with: install one, for example the packages gcc and libc6-dev (Debian, Ubuntu) or gcc (Fedora), or set CC."
    compiled=$build_dir/native-$$
    mkdir -p "$compiled" "$library"
    if ! "$home/apps/exec/native/build" "$compiled" >"$build_dir/native.log" 2>&1; then
        tail -n 20 "$build_dir/native.log" >&2
        rm -rf "$compiled"
        exec_fail 2 "the library could not be built; the whole output of the compiler is in $build_dir/native.log"
    fi
    for file in "$compiled"/*; do mv -f "$file" "$library/"; done
    rm -rf "$compiled"
}

# Succeeds if the library is missing, or a source is newer. All shells have -nt.
# shellcheck disable=SC3013
is_library_stale() {
    [ -f "$library/libibverbs.so.1" ] || return 0
    for file in "$home"/apps/exec/native/* "$home"/apps/exec/native/guardian/*; do
        [ "$file" -nt "$library/libibverbs.so.1" ] && return 0
    done
    return 1
}

# Sets exec_cache to the ahead-of-time cache of the virtual machine in a program, or to nothing. Creates the cache if it
# is due.
look_at_exec_cache() {
    cache_kind='exec'
    cache_file=exec.aot
    # shellcheck disable=SC2317
    train_cache() { train_exec_and_check "$home/apps/exec/training/train.c" "$library" "$jdk" "$modules" "$1"; }
    look_at_cache
    make_due_cache
    exec_cache=$cache
}
