# Two hosts, which are network namespaces, and their processes, which run as an ordinary user;
# sourced by apps/exec/run.

server_address=192.0.2.1
client_address=192.0.2.2
declare -A netns=([server]=rdma4j-exec-$$-server [client]=rdma4j-exec-$$-client)
declare -A started_pid=()

# Namespaces of a killed run have the ID of a process that no longer exists.
hosts_delete_stale() {
    local name pid
    for name in $(ip netns list | awk '/^rdma4j-exec-/ { print $1 }'); do
        pid=${name#rdma4j-exec-}
        [ -d "/proc/${pid%-*}" ] || ip netns delete "$name"
    done
}

hosts_up() {
    local host
    # perftest leaves these files behind, and cannot open those of another user.
    rm -f /tmp/xrc_domain_server /tmp/xrc_domain_client
    hosts_delete_stale
    for host in server client; do
        ip netns add "${netns[$host]}" && ip -n "${netns[$host]}" link set lo up || die 'cannot create network namespaces'
    done
    ip -n "${netns[server]}" link add eth0 type veth peer name eth0 netns "${netns[client]}" || die 'cannot create a pair of interfaces'
    host_address server "$server_address" fd00:db8::1
    host_address client "$client_address" fd00:db8::2
    # The kernel reports the carrier up to a second later, and an interface without a carrier has no
    # device.
    for host in server client; do wait_until 5 has_carrier "$host" || die 'the interfaces do not come up'; done
}

has_carrier() { ip -n "${netns[$1]}" link show eth0 | grep -q 'state UP'; } # HOST

host_address() { # HOST IPV4 IPV6
    ip -n "${netns[$1]}" address add "$2/24" dev eth0
    ip -n "${netns[$1]}" address add "$3/64" dev eth0 nodad
    ip -n "${netns[$1]}" link set eth0 up
}

hosts_down() {
    local label
    for label in "${!started_pid[@]}"; do end "$label"; done
    ip netns delete "${netns[server]}" 2>/dev/null
    ip netns delete "${netns[client]}" 2>/dev/null
}

# Runs a command on a host as the user nobody, with 64 KiB of locked memory. An empty folder hides
# /dev/infiniband of the machine. The variable mounts may contain a command that changes the mounts
# of this process.
as_user() { # HOST COMMAND...
    local host=$1
    shift
    # shellcheck disable=SC2016
    ip netns exec "${netns[$host]}" unshare --mount sh -c '[ ! -d /dev/infiniband ] || mount -t tmpfs none /dev/infiniband; eval "$1"; shift; exec "$@"' sh \
        "${mounts:-}" \
        prlimit --memlock=65536:65536 --core=0 setpriv --reuid nobody --regid "$(id -g nobody)" --clear-groups \
        env -u XDG_RUNTIME_DIR HOME=/nonexistent "$@"
}

# Starts a command in the background. Its output goes to files of the row.
start() { # LABEL HOST SECONDS COMMAND...
    local label=$1 host=$2 limit=$3
    shift 3
    printf '%s\n' "$*" >"$row_dir/$label.cmd"
    as_user "$host" timeout -k 3 "$limit" "$@" <"${input:-/dev/null}" >"$row_dir/$label.out" 2>"$row_dir/$label.err" &
    started_pid[$label]=$!
}

# Waits for a started process, and sets status: 124 if it exceeded its limit.
finish() { # LABEL
    wait "${started_pid[$1]}" 2>/dev/null
    status=$?
    echo "$status" >"$row_dir/$1.status"
    unset "started_pid[$1]"
}

# Ends a started process and all that it has started itself. Its parents are those of as_user.
end() { # LABEL [SIGNAL]
    local pid=${started_pid[$1]:-}
    [ -n "$pid" ] || return 0
    signal_tree "$pid" "${2:-KILL}"
    finish "$1"
}

signal_tree() { # PID SIGNAL
    local child
    for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do signal_tree "$child" "$2"; done
    kill -s "$2" "$1" 2>/dev/null
}

# Sets program_pid to the process of the program itself that LABEL has started, the child of
# timeout.
program_of() { # LABEL
    local pid=${started_pid[$1]} child
    while child=$(cut -d ' ' -f 1 "/proc/$pid/task/$pid/children" 2>/dev/null) && [ -n "$child" ]; do pid=$child; done
    program_pid=$pid
}

listens_tcp() { # HOST PORT
    ip netns exec "${netns[$1]}" ss -Hltn "sport = :$2" | grep -q .
}
holds_port_4791() { ip netns exec "${netns[$1]}" ss -Hlun 'sport = :4791' | grep -q .; } # HOST
port_4791_is_free() { ! holds_port_4791 "$1"; } # HOST
