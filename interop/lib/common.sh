# Paths, messages and small helpers shared by every script of this folder. Sourced, never run.

interop_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
lib_dir=$interop_dir/lib
repo_dir=$(cd "$interop_dir/.." && pwd)
cache_dir=${RDMA4J_INTEROP_CACHE:-/var/cache/rdma4j-interop}
launcher=${RDMA4J_LAUNCHER:-$repo_dir/rdma4j}

# Every network namespace of ours is this prefix and the process id of the script that made it, so that two runs
# can live side by side and the left-overs of a killed run can be told from those of a live one.
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

# wait_until SECONDS COMMAND... : polls the command ten times a second; false when the time is over.
wait_until() {
    local end=$(($(now_ms) + $1 * 1000))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$(now_ms)" -lt "$end" ] || return 1
        sleep 0.1
    done
}
