# Paths, messages and helpers that all scripts of this folder use; sourced by them.

interop_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
lib_dir=$interop_dir/lib
repo_dir=$(cd "$interop_dir/../.." && pwd)
cache_dir=${RDMA4J_INTEROP_CACHE:-/var/cache/rdma4j-interop}
launcher=${RDMA4J_LAUNCHER:-$repo_dir/rdma4j}

# The name of each network namespace is this prefix and the process ID of the script that created it. So two runs can be active
# at the same time, and a run can recognize the namespaces of a run that was killed.
netns_prefix=rdma4j-interop-

say() { printf '%s\n' "$*"; }
note() { printf '%s\n' "$*" >&2; }
die() {
    note "interop: $*"
    exit 2
}

require_root() {
    [ "$(id -u)" -eq 0 ] || die "must run as root: it makes a network namespace, a tap and an emulated machine (try: sudo $0)"
}

# Wall clock in milliseconds.
now_ms() { echo $(($(date +%s%N) / 1000000)); }

# seconds MS -> "1.4"
seconds() { printf '%d.%d' $(($1 / 1000)) $(($1 % 1000 / 100)); }

# wait_until SECONDS COMMAND... : runs the command until it succeeds, with a pause after each attempt; fails after SECONDS.
wait_pause=0.1
wait_until() {
    local end=$(($(now_ms) + $1 * 1000))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$(now_ms)" -lt "$end" ] || return 1
        sleep $wait_pause
    done
}
