# The programs of ibverbs-utils and rdmacm-utils; sourced by apps/exec/run.

define_tool_rows() {
    local kind
    row_add ibv_devices C quick 20 one_program 'rdma4j_eth0' ibv_devices
    row_add ibv_devinfo C quick 20 one_program 'state:.*PORT_ACTIVE' ibv_devinfo -d rdma4j_eth0
    row_add ibv_devinfo/-v C full 20 one_program 'GID\[' ibv_devinfo -v
    row_add ibv_devices/same-as-Java C quick 20 same_devices
    row_add ibv_asyncwatch C quick 20 asyncwatch
    define_pingpong_rows
    define_cm_rows
}

define_pingpong_rows() {
    local place="-d rdma4j_eth0 -g $gid_index" kind
    for kind in rc uc ud srq; do
        pingpong_add $kind quick "-n 200 -c"
        pingpong_add $kind full "-n 100 -c -e"
    done
    pingpong_add rc full '-n 200 -s 65536 -m 1024 -c'
    row_add ibv_rc_pingpong/-t 'C->C' full 20 no_timestamps
    pingpong_add rc full '-n 100 -N'
    pingpong_add srq full '-n 200 -q 4'
    pair_add ibv_xsrq_pingpong quick tcp:18515 "ibv_xsrq_pingpong $place" "ibv_xsrq_pingpong $place $server_address"
    pair_add ibv_xsrq_pingpong/-e full tcp:18515 "ibv_xsrq_pingpong $place -e" "ibv_xsrq_pingpong $place -e $server_address"
    near=true pingpong_add rc full '-n 500 -c' same-host
}

gid_index=1      # the GID of the IPv4 address
ipv6_gid_index=2 # the GID of the IPv6 address that is not link-local

pingpong_add() { # KIND quick|full OPTIONS [SUFFIX]
    local tool=ibv_$1_pingpong place="-d rdma4j_eth0 -g $gid_index"
    pair_add "$tool/${4:-$(tr -d ' ' <<<"$3")}" "$2" tcp:18515 "$tool $place $3" "$tool $place $3 $server_address" pingpong_figures
}

# Only hardware timestamps completions: expects the message that ibv_rc_pingpong prints on an
# rdma_rxe device.
no_timestamps() {
    start program server "$limit" "$launcher" exec -- ibv_rc_pingpong -d rdma4j_eth0 -g $gid_index -t
    finish program
    [ $status -eq 1 ] || wrong "it ended with $status" || return
    grep -q 'completion timestamp capable' "$row_dir/program.err" || wrong 'it does not report that the device has no timestamps'
}

pingpong_figures() {
    remark "$(sed -n 's/.* = \(.*\)$/\1/p' "$row_dir/client.out" | tail -n 1)"
}

define_cm_rows() {
    local to=$server_address
    pair_add rping quick cm "rping -s -a $to -C 10 -V -v" "rping -c -a $to -C 10 -V -v" 'prints client 10 ^ping.data:'
    pair_add rping/-S-64K full cm "rping -s -a $to -C 50 -S 65000 -V" "rping -c -a $to -C 50 -S 65000 -V"
    pair_add rping/-q full cm "rping -s -a $to -C 10 -q" "rping -c -a $to -C 10 -q"
    pair_add rping/IPv6 full cm "rping -s -a fd00:db8::1 -C 5 -V" "rping -c -a fd00:db8::1 -C 5 -V"
    pair_add ucmatose quick cm "ucmatose -c 2" "ucmatose -c 2 -s $to"
    pair_add ucmatose/-c-20 full cm "ucmatose -c 20 -C 20 -S 1000" "ucmatose -c 20 -C 20 -S 1000 -s $to"
    pair_add ucmatose/-m full cm "ucmatose -c 2 -m" "ucmatose -c 2 -m -s $to"
    pair_add udaddy quick cm "udaddy -c 2" "udaddy -c 2 -s $to"
    pair_add mckey quick cm "mckey -m 239.1.1.1 -b $to -C 5" "mckey -m 239.1.1.1 -b $client_address -s -C 5"
    pair_add rdma_client quick cm "rdma_server -s $to" "rdma_client -s $to"
    pair_add rdma_xclient/RC quick cm "rdma_xserver -c r" "rdma_xclient -s $to -c r"
    pair_add rdma_xclient/XRC full cm "rdma_xserver -c x" "rdma_xclient -s $to -c x"
    pair_add rstream quick cm "rstream -S 64 -C 100 -T v" "rstream -s $to -S 64 -C 100 -T v"
    pair_add rstream/all full cm "rstream -S all -C 5 -I 5" "rstream -s $to -S all -C 5 -I 5"
    pair_add rstream/-T-n full cm "rstream -S 4096 -C 100 -T n" "rstream -s $to -S 4096 -C 100 -T n"
    pair_add rstream/-T-b full cm "rstream -S 4096 -C 100 -T b" "rstream -s $to -S 4096 -C 100 -T b"
    pair_add rstream/-T-r full cm "rstream -S 64 -C 20 -T r" "rstream -s $to -S 64 -C 20 -T r"
    pair_add riostream quick cm "riostream -S 64 -C 100 -T v" "riostream -s $to -S 64 -C 100 -T v"
    row_add udpong 'C->C' full 20 udpong_refused
    for kind in 'C->C' 'C->Java' 'Java->C'; do
        row_add cmtime "$kind" full 30 times_connections "$kind"
        row_add rcopy "$kind" quick 30 copies "$kind"
    done
}

# For datagram sockets, librdmacm creates address handles without a global route, which no RoCE
# device accepts.
udpong_refused() {
    pair_start 'C->C' none "udpong -b $server_address" "udpong -s $server_address -S 64 -C 10"
    finish client
    grep -q '^rconnect: ' "$row_dir/client.err" || wrong "it ends with $status instead of failing in rconnect"
}

# The cmtime of rdma-core 44; its server runs until a signal. Newer ones, and Java's without
# --classic, have different options.
times_connections() { # ROLES
    local server='cmtime --classic' client='cmtime --classic'
    [ "${1#*->}" = Java ] || server=cmtime
    [ "${1%->*}" = Java ] || client=cmtime
    pair_start "$1" cm "$server -b $server_address" "$client -s $server_address -c 20" || return
    finish client
    [ $status -eq 0 ] || wrong "the client ended with $status" || return
    end server INT
    grep -q '^connect ' "$row_dir/client.out" || wrong 'it prints no times'
}

# Runs one program and expects a matching line in its output.
one_program() { # PATTERN PROGRAM ARGUMENTS...
    local pattern=$1
    shift
    start program server "$limit" "$launcher" exec -- "$@"
    finish program
    [ $status -eq 0 ] || wrong "it ended with $status" || return
    no_complaint program || return
    grep -qE -- "$pattern" "$row_dir/program.out" || wrong "it does not print '$pattern'"
}

# C and Java must list the same devices with the same GUIDs.
same_devices() {
    start program server "$limit" "$launcher" exec -- ibv_devices
    finish program
    start java server "$limit" "$launcher" ibv_devices
    finish java
    [ "$(awk '{ print $1, $2 }' "$row_dir/program.out")" = "$(awk '{ print $1, $2 }' "$row_dir/java.out")" ] || wrong 'the lists differ'
}

# The program must receive the event of an interface that goes down.
asyncwatch() {
    start program server "$limit" "$launcher" exec -- stdbuf -o L ibv_asyncwatch -d rdma4j_eth0
    wait_until 10 grep -q 'async event FD' "$row_dir/program.out" || wrong 'it does not open the device' || return
    sleep 0.5
    ip -n "${netns[client]}" link set eth0 down
    wait_until 10 grep -q 'event_type' "$row_dir/program.out" || wrong 'it prints no event'
    local result=$?
    ip -n "${netns[client]}" link set eth0 up
    host_address client "$client_address" fd00:db8::2 2>/dev/null
    wait_until 10 has_carrier server
    end program INT
    return $result
}

copies() { # ROLES
    local copy=$row_dir/copy words
    head -c 300000 /dev/urandom >"$row_dir/original"
    chmod a+r "$row_dir/original"
    words_of "${1#*->}" rcopy
    start server server "$limit" "${words[@]}"
    pair_ready cm || return
    words_of "${1%->*}" rcopy
    start client client "$limit" "${words[@]}" "$row_dir/original" "$server_address:$copy"
    finish client
    [ $status -eq 0 ] || wrong "the client ended with $status" || return
    end server INT
    cmp -s "$row_dir/original" "$copy" || wrong 'the copy differs'
}
