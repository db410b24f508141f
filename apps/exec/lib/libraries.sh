# Libraries on top of libibverbs and librdmacm: UCX, librspreload in a program that uses plain sockets,
# and Open MPI over UCX; sourced by apps/exec/run.

define_library_rows() {
    ucx_add rc quick tag_lat
    ucx_add ud quick tag_lat
    ucx_add rc full tag_bw -s 65536
    ucx_add rc full ucp_put_lat
    ucx_add rc full ucp_get -s 4096
    ucx_add rc full stream_bw -s 4096
    ucx_add ud full tag_bw -s 4096
    ipv6=true ucx_add ud full tag_lat
    uct_add rc_verbs full am_lat
    uct_add rc_verbs full put_bw -D zcopy -s 4096
    uct_add rc_verbs full fadd -s 8
    uct_add ud_verbs full am_lat
    row_add librspreload/NPtcp 'C->C' quick 40 sockets_program inside -i -u 4096
    row_add librspreload/NPtcp-outside 'C->C' full 40 sockets_program outside -i -u 4096
    row_add librspreload/NPtcp-64K 'C->C' full 60 sockets_program inside -l 16384 -u 65536 -n 20
    row_add librspreload/sockets 'C->C' full 40 plain_sockets send 3000000
    row_add librspreload/client-leaves 'C->C' full 40 plain_sockets leave 12
    row_add Open-MPI 'C->C' quick 40 two_ranks
    row_add Open-MPI/UD 'C->C' full 40 two_ranks UCX_TLS=ud,self
}

# Adds a row of ucx_perftest with UCP messages, or with one UCT transport. UCX itself chooses the
# GID of the IPv4 address.
ucx_add() { # TRANSPORT quick|full TEST OPTIONS...
    local settings="UCX_NET_DEVICES=rdma4j_eth0:1 UCX_TLS=$1"
    [ -z "${ipv6:-}" ] || settings+=" UCX_IB_GID_INDEX=$ipv6_gid_index"
    ucx_row "ucx_perftest/$1/$3${ipv6:+-IPv6}" "$2" "env $settings ucx_perftest -t ${*:3}"
}
uct_add() { # TRANSPORT quick|full TEST OPTIONS...
    ucx_row "ucx_perftest/$1/$3" "$2" "ucx_perftest -d rdma4j_eth0:1 -x $1 -t ${*:3}"
}
ucx_row() { # NAME quick|full COMMAND
    local command="$3 -n 200 -w 20"
    row_add "$1" 'C->C' "$2" 40 pair 'C->C' tcp:13337 "$command" "$command $server_address" ucx_figures
}

ucx_figures() {
    ! grep -hE 'UCX +(WARN|ERROR|FATAL)' "$row_dir"/*.{out,err} >>"$row_dir/why" || return
    grep -q '^Final: ' "$row_dir/client.out" || wrong 'the client prints no result' || return
    remark "$(awk '/^Final: / { print "average " $4 " us, " $6 " MB/s" }' "$row_dir/client.out")"
}

preload_of_sockets() { find /usr/lib -name librspreload.so -path '*/rsocket/*' | head -n 1; }

# NPtcp sends messages of many sizes in both directions, and with -i compares them. LD_PRELOAD is
# set inside or outside of rdma4j exec.
sockets_program() { # inside|outside OPTIONS...
    local label preload server=("$launcher" exec --) client
    preload=LD_PRELOAD=$(preload_of_sockets)
    if [ "$1" = inside ]; then
        server+=(env "$preload")
    else
        server=(env "$preload" "${server[@]}")
    fi
    client=("${server[@]}")
    shift
    start server server "$limit" "${server[@]}" NPtcp "$@" -o "$row_dir/server.figures"
    pair_ready cm || return
    ! listens_tcp server 5002 || wrong 'the server listens on a TCP port' || return
    start client client "$limit" "${client[@]}" NPtcp -h "$server_address" "$@" -o "$row_dir/client.figures"
    finish client
    [ $status -eq 0 ] || wrong "the client ended with $status" || return
    finish server
    [ $status -eq 0 ] || wrong "the server ended with $status" || return
    for label in client server; do no_complaint $label || return; done
    [ "$1" != -i ] || { grep -q 'check passed' "$row_dir/client.err" && ! grep -qi 'fail' "$row_dir/client.err"; } || wrong 'the data differ'
}

# The server must receive all bytes that the client sends, and end soon after it, even if the client
# does not close its socket.
plain_sockets() { # send|leave BYTES
    local command=("$launcher" exec -- env "LD_PRELOAD=$(preload_of_sockets)" "$row_dir/sockets") begin
    cc -O1 -Wall -o "$row_dir/sockets" "$exec_dir/lib/sockets.c" || wrong 'cannot compile' || return
    start server server "$limit" "${command[@]}" receive
    pair_ready cm || return
    ! listens_tcp server 18600 || wrong 'the server listens on a TCP port' || return
    start client client "$limit" "${command[@]}" "$1" "$server_address"
    finish client
    [ $status -eq 0 ] || wrong "the client ended with $status" || return
    begin=$(now_ms)
    finish server
    [ $status -eq 0 ] || wrong "the server ended with $status" || return
    [ $(($(now_ms) - begin)) -lt 5000 ] || wrong 'the server does not learn that the client has ended' || return
    prints server 1 "^$2 bytes, 0 wrong$"
}

# Two ranks on one host. UCX prints which transports they use.
two_ranks() { # [SETTINGS OF UCX]
    local settings="UCX_NET_DEVICES=rdma4j_eth0:1 ${1:-UCX_TLS=rc,self} UCX_LOG_LEVEL=info" transport=rc_verbs
    [[ $settings != *ud* ]] || transport=ud_verbs
    mpicc -O1 -Wall -o "$row_dir/ranks" "$exec_dir/lib/ranks.c" || wrong 'cannot compile' || return
    # shellcheck disable=SC2086
    start program server "$limit" "$launcher" exec -- env $settings mpirun --oversubscribe -n 2 --mca pml ucx "$row_dir/ranks"
    finish program
    [ $status -eq 0 ] || wrong "it ended with $status" || return
    no_complaint program || return
    prints program 2 '^rank [01]: 0 wrong$' || return
    prints program 2 "ep_cfg\[1\].*$transport/rdma4j_eth0:1"
}
