# Paths, messages and helpers; sourced by apps/exec/run.

repo_dir=$(cd "$exec_dir/../.." && pwd -P)
launcher=${RDMA4J_LAUNCHER:-$repo_dir/rdma4j}
logs_dir=$exec_dir/target/rows

say() { printf '%s\n' "$*"; }
note() { printf '%s\n' "$*" >&2; }
die() {
    note "apps/exec/${0##*/}: $*"
    exit 2
}

require_root() {
    [ "$(id -u)" -eq 0 ] || die "must run as root: it creates network namespaces (try: sudo $0)"
}

now_ms() { echo $(($(date +%s%N) / 1000000)); }
seconds() { printf '%d.%d' $(($1 / 1000)) $(($1 % 1000 / 100)); }

# Retries a command until it succeeds; fails after SECONDS.
wait_until() { # SECONDS COMMAND...
    local end=$(($(now_ms) + $1 * 1000))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$(now_ms)" -lt "$end" ] || return 1
        sleep 0.05
    done
}

# Installs the Debian packages of missing programs.
install_programs() {
    local name package missing=()
    for name in ibv_devices:ibverbs-utils rping:rdmacm-utils ib_send_lat:perftest ucx_perftest:ucx-utils NPtcp:netpipe-tcp \
        mpirun:openmpi-bin mpicc:libopenmpi-dev cc:gcc ip:iproute2 setpriv:util-linux tshark:tshark; do
        package=${name#*:}
        type -P "${name%%:*}" >/dev/null || missing+=("$package")
    done
    [ -f /usr/include/stdio.h ] || missing+=(libc6-dev)
    [ -f /usr/include/rdma/rdma_cma.h ] || missing+=(librdmacm-dev libibverbs-dev)
    /usr/bin/python3 -c 'import pyverbs' 2>/dev/null || missing+=(python3-pyverbs)
    [ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"
}

install_packages() { # PACKAGE...
    command -v apt-get >/dev/null || die "install the programs of the packages $*"
    say "apps/exec/${0##*/}: installing $*"
    { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@"; } >/dev/null ||
        die "apt-get could not install: $*"
}
