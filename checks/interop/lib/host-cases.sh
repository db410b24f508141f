# Java against Java between processes and namespaces of this host, without a guest; sourced by other scripts.

# Measures the processor time (utime and stime) of two connected processes that wait. The least of three measurements counts: a
# virtual machine that shares its processors also charges the time of others to the running process.
case_idle() { # SERVER CLIENT SECONDS-OF-TRAFFIC-BEFORE
    local server=$1 client=$2 traffic=$3 pids ticks hundredths least=100000
    peer_pair "$server" "$client" v4 server "seconds=$traffic" hold || return 1
    sleep $((traffic + 5)) # the compiler of the virtual machine is busy for some seconds after the start
    pids="$(java_pid server) $(java_pid client)"
    for _ in 1 2 3; do
        ticks=$(cpu_ticks $pids)
        sleep 6
        hundredths=$((($(cpu_ticks $pids) - ticks) * 10000 / 6 / $(getconf CLK_TCK))) # of a per cent
        [ $hundredths -ge $least ] || least=$hundredths
        [ $least -ge 100 ] || break
    done
    ! rping_ended server && ! rping_ended client || explain 'a process ended' || return 1
    remark "$(printf '%d.%02d' $((least / 100)) $((least % 100))) % of a core together"
    [ $least -lt 100 ] || explain 'two idle processes must use less than 1 %'
}
cpu_ticks() {
    local pid total=0
    for pid in "$@"; do
        # Fields 14 and 15; the second field is a name in brackets.
        total=$((total + $(sed 's/.*) //' "/proc/$pid/stat" | awk '{ print $12 + $13 }')))
    done
    echo $total
}

# kill -9 under traffic. The survivor's oldest send fails after 8 to 32 acknowledgement timeouts (7 retries, each of which may
# take up to four timeouts). All other work requests are flushed at once, and DISCONNECTED follows after its DREQ.
#   FIRST       the side that starts first; it owns the port if both are on one address
#   AFTERWARDS  the process that replies to the DREQ: "neighbour" (the survivor, or the next owner of the port, at the victim's
#               address), "bystander" (another process there), or "nobody" (timeout after 16 intervals of the CM)
case_kill9() { # SERVER CLIENT FAMILY VICTIM(server|client) FIRST(server|client) EXPONENT AFTERWARDS
    local server=$1 client=$2 family=$3 victim=$4 first=$5 exponent=$6 afterwards=$7 survivor=client owner=false killed lost bad=0
    [ "$victim" = server ] || survivor=server
    peer_pair "$server" "$client" "$family" "$first" "ack=$exponent" patient || return 1
    if [ "$afterwards" = bystander ]; then
        rping_serve "${job_side[$victim]}" bystander $((port + 1)) -a "$(side_address "${job_side[$victim]}" "$family")" || return 1
    fi
    sleep 1.5
    ! owns_port "${job_side[$victim]}" "$victim" || owner=true
    [ $owner = "$([ "$first" = "$victim" ] || [ "$server" != "$client" ] && echo true || echo false)" ] ||
        explain "the victim's owning the port is $owner" || bad=1
    killed=$(now_ms)
    rping_signal "$victim" KILL
    kill9_lost "$survivor" "$killed" "$exponent" && kill9_disconnected "$survivor" "$exponent" "$afterwards" || return 1
    return $bad
}

kill9_lost() { # SURVIVOR KILLED EXPONENT
    local timeout_us=$(((4096 << $3) / 1000)) bad=0 lost
    peer_await "$1" FLUSHED $((timeout_us * 32 / 1000000 + 10)) || return 1
    lost=$(($(peer_time "$1" LOST) - $2))
    remark "$(peer_field "$1" lost) after $(milliseconds $lost)"
    # The last acknowledgement may have arrived just before the kill, and a busy machine may wake the process late.
    expect_between 'the error completion' $lost $((timeout_us * 8 / 1000 - 100)) $((timeout_us * 32 / 1000 + 1000)) || bad=1
    expect_between 'the flush' $(($(peer_time "$1" FLUSHED) - $(peer_time "$1" LOST))) 0 500 || bad=1
    [ "$(peer_field "$1" flushed-receives)" = 32 ] || explain "$(peer_field "$1" flushed-receives) of 32 receives flushed" || bad=1
    return $bad
}

# No request is outstanding, so no timeout expires. Processes of one address are notified of each other's exit all the same.
case_kill9_idle() { # SERVER CLIENT VICTIM(server|client) FIRST(server|client)
    local server=$1 client=$2 victim=$3 first=$4 survivor=client killed took
    [ "$victim" = server ] || survivor=server
    peer_pair "$server" "$client" lo4 "$first" seconds=0 hold || return 1
    sleep 1
    killed=$(now_ms)
    rping_signal "$victim" KILL
    peer_await "$survivor" DISCONNECTED 10 || return 1
    took=$(($(peer_time "$survivor" DISCONNECTED) - killed))
    remark "DISCONNECTED after $(milliseconds $took)"
    expect_between 'DISCONNECTED' $took 0 2000 || return 1
    rping_wait "$survivor" 10 || explain "$survivor did not end"
}

# One side of a stream of RDMA sockets is killed during a transfer. The other side must fail by itself, and all data that it had
# read must be right (-T v). The client does not warm up, so that it transfers data when the other side is killed.
case_kill9_stream() { # SERVER CLIENT FAMILY VICTIM(server|client) LONGEST-SECONDS OPTIONS...
    local server=$1 client=$2 family=$3 victim=$4 longest=$5 survivor=client address killed bad=0
    shift 5
    [ "$victim" = server ] || survivor=server
    address=$(side_address "$server" "$family" "$client")
    tool_start "$server" server rstream -b "$address" "$@" -T v
    wait_until 20 listens_on "$server" server 7471 "$address" || { explain 'the server did not listen within 20 s'; return 1; }
    tool_start "$client" client rstream -s "$address" "$@" -T v --no-warm-up
    sleep 3
    ! rping_ended client && ! rping_ended server || explain 'a side ended before it was killed' || return 1
    killed=$(now_ms)
    rping_signal "$victim" KILL
    rping_wait "$survivor" "$longest" || { explain "the $survivor did not end within $longest s"; return 1; }
    remark "ended after $(milliseconds $(($(now_ms) - killed)))"
    expect_code "$survivor" 255 || bad=1
    ! grep -q verification "$case_dir/$survivor.err" || explain "the $survivor read wrong bytes" || bad=1
    [ -s "$case_dir/$survivor.err" ] || explain "the $survivor did not say why" || bad=1
    return $bad
}

kill9_disconnected() { # SURVIVOR EXPONENT AFTERWARDS
    local status=0 low=0 high=8000 interval_ms took bad=0 limit=20
    if [ "$3" = nobody ]; then
        status=-110
        # The peer's response timeout has the exponent 20, which Linux counts as 2^12 ms. The side that connected adds the path
        # in both directions, half an acknowledgement timeout each.
        interval_ms=4096
        [ "$1" = server ] || interval_ms=$((interval_ms + (1 << ($2 - 8))))
        low=$((interval_ms * 16 - 500)) high=$((interval_ms * 16 + 3000)) limit=$((interval_ms * 16 / 1000 + 20))
    fi
    # On the same host the notification of the exit arrives before the error completion.
    [ "$3" != neighbour ] || low=-75000
    # From another host the DREQ comes from another process at the victim's address (decision 028).
    [ "$3" != bystander ] || low=-75000 high=0
    peer_await "$1" DISCONNECTED $limit || return 1
    took=$(($(peer_time "$1" DISCONNECTED) - $(peer_time "$1" DISCONNECTING)))
    if [ $took -lt 0 ]; then
        remark "DISCONNECTED $(peer_field "$1" status) at once"
    else
        remark "DISCONNECTED $(peer_field "$1" status) $(milliseconds $took) after the DREQ"
    fi
    expect_between 'DISCONNECTED' $took $low $high || bad=1
    [ "$(peer_field "$1" status)" = $status ] || explain "DISCONNECTED with status $(peer_field "$1" status), expected $status" || bad=1
    rping_wait "$1" 10 || explain "$1 did not end" || bad=1
    expect_code "$1" 3 || bad=1
    [ ! -s "$case_dir/$1.err" ] || explain "$1 complained: $(head -n 1 "$case_dir/$1.err")" || bad=1
    return $bad
}
milliseconds() { printf '%d.%03d s' $(($1 / 1000)) $(($1 % 1000)); }

# The process that owns the port is killed. A connection of two other processes at the address must continue without an error.
case_owner_killed() { # SERVER CLIENT FAMILY
    local side=$1 family=$3 bad=0
    rping_serve "$side" owner $((port + 1)) -a "$(side_address "$side" "$family")" || return 1
    peer_pair "$1" "$2" "$family" server ack=14 seconds=5 || return 1
    sleep 1
    owns_port "$side" owner || explain 'the first process does not own the port' || bad=1
    rping_signal owner KILL
    rping_wait client 20 || explain 'the client did not end' || bad=1
    rping_wait server 5 || explain 'the server did not end' || bad=1
    expect_code client 0 || bad=1
    expect_code server 0 || bad=1
    remark "longest gap $(peer_field client longest-gap-ms) ms, $(peer_field client sent) and $(peer_field server sent) messages"
    return $bad
}

# The same with rping: the owner has a client of its own. A persistent server with two other clients must continue.
case_owner_killed_rping() { # SERVER CLIENT FAMILY
    local side=$1 family=$3 address bad=0 i before
    address=$(side_address "$1" "$family" "$2")
    rping_serve "$side" owner $((port + 1)) -a "$address" || return 1
    rping_serve "$side" server $port -a "$address" -P || return 1
    rping_start "$2" owners-client -c -a "$address" -p $((port + 1)) -v
    for i in 1 2; do rping_start "$2" "client$i" -c -a "$address" -p $port -v -V; done
    for i in client1 client2 owners-client; do wait_until 20 has_pinged $i 50 || explain "$i saw no ping" || return 1; done
    owns_port "$side" owner || explain 'the first process does not own the port' || bad=1
    rping_signal owner KILL
    sleep 1 # what was in the pipe is printed
    for i in 1 2; do
        before=$(wc -l <"$case_dir/client$i.out")
        wait_until 25 has_pinged "client$i" $((before + 200)) || explain "client$i stood still" || bad=1
    done
    for i in 1 2; do
        ! rping_ended "client$i" || explain "client$i ended with $(exit_code "client$i")" || bad=1
        rping_signal "client$i" INT
        rping_wait "client$i" 10 || explain "client$i did not end on SIGINT" || bad=1
        expect_pings "client$i" client 64 "$(grep -ac '^ping data: ' "$case_dir/client$i.out")" || bad=1
        ! grep -q 'failed\|error' "$case_dir/client$i.err" || explain "client$i complained: $(head -n 1 "$case_dir/client$i.err")" || bad=1
    done
    ! rping_ended server || explain 'the server ended' || bad=1
    rping_signal server INT
    rping_wait server 10 || explain 'the server did not end on SIGINT' || bad=1
    return $bad
}
has_pinged() { [ "$(wc -l <"$case_dir/$1.out")" -ge "$2" ]; } # LABEL LINES

# Servers with the same link-local address and port on two links are two servers.
case_twin_ports() { # SERVER CLIENT
    rping_serve "$1" other $port -a "$(side_address "$1" ll)" || return 1
    case_ping "$1" "$2" twin 64 10
}

# The network interface of a waiting server is deleted.
case_device_removed() {
    local bad=0
    in_netns ip link add gone0 type veth peer name gone1
    in_netns ip addr add 10.90.0.1/24 dev gone0
    in_netns ip link set gone0 up
    in_netns ip link set gone1 up
    rping_serve near server $port -a 10.90.0.1 || bad=1
    in_netns ip link del gone0
    rping_wait server 10 || explain 'the server did not end' || bad=1
    expect_code server 255 || bad=1
    expect_lines server err '^cma detected device removal!!!!$' || bad=1
    return $bad
}

# No server is running. A client is rejected at once if any process uses the server's address, here the client itself.
case_client_first() { # SERVER CLIENT FAMILY
    local start bad=0
    start=$(now_ms)
    rping_start "$2" client -c -a "$(side_address "$1" "$3" "$2")" -p $port -C 3 -v -V
    judge_rejected 8 || bad=1
    expect_between 'the refusal' $(($(now_ms) - start)) 0 5000 || bad=1
    rping_serve "$1" server $port -a "$(side_address "$1" "$3")" -v || return 1
    rm -f "$case_dir/client."*
    rping_start "$2" client -c -a "$(side_address "$1" "$3" "$2")" -p $port -C 3 -v -V
    judge_pair 64 3 || bad=1
    return $bad
}

# No process runs on the peer's host: UNREACHABLE after all repetitions of the REQ.
case_silent() { # SERVER CLIENT FAMILY
    local bad=0
    rping_start "$2" client -c -a "$(side_address "$1" "$3" "$2")" -p $port -C 3
    rping_wait client || explain 'the client did not end' || bad=1
    expect_code client 255 || bad=1
    expect_lines client err '^cma event RDMA_CM_EVENT_UNREACHABLE, error -110$' || bad=1
    return $bad
}

# Java without native access in the guest, where the kernel's rxe has the address and UDP port 4791.
rping_in_guest() { # VARIABLES OF THE ENVIRONMENT
    local text
    printf '%s\n' "$1 Java (in the guest) rping -s -a $guest_ip4" >"$case_dir/server.cmd"
    text=$(guest_sh guest "$1 timeout -k 3 $case_timeout $(printf '%q' "$java") -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
        --enable-native-access=io.rdma4j.link --module-path $(printf '%q' "$module_path") \
        --module io.rdma4j.tools/io.rdma4j.tools.Main rping -s -a $guest_ip4")
    echo $? >"$case_dir/server.rc"
    printf '%s\n' "$text" >"$case_dir/server.err"
    expect_code server 255
}

# The error message says that the kernel has the port, and what to do.
case_rxe_holds_port() { # SERVER CLIENT
    rping_in_guest RDMA4J_DEVICE=soft
    expect_lines server err '^rdma_bind_addr: Address already in use$'
    expect_lines server err "UDP port 4791 of $guest_ip4 is held by .*EADDRINUSE.*rmmod rdma_rxe"
    [ ! -e "$case_dir/why" ]
}

# The software device does not take the address of a device of this machine, which the error message names.
case_rxe_has_address() { # SERVER CLIENT
    rping_in_guest ''
    expect_lines server err '^rdma_bind_addr: No such device$'
    expect_lines server err "$guest_ip4 belongs to rxe0, which this process cannot use: .*--enable-native-access"
    [ ! -e "$case_dir/why" ]
}

define_host_cases() {
    local family size victim first
    for family in lo4 v4 lo6 ll twin; do
        for size in 64 65535; do
            case_add "host/rping/$family/$size" near near '10 pings' 30 case_ping $family $size 10
        done
    done
    for size in 23 1000 4096; do
        case_add "host/rping/lo4/$size" near near '10 pings' 30 case_ping lo4 $size 10
    done
    for family in v4 v6 ll twin; do case_add "host/rping/far-$family/65535" far near '10 pings' 30 case_ping $family 65535 10; done
    define_host_message_cases
    define_host_cmtime_cases
    define_host_socket_cases
    case_add host/rping/twin-ports near near '10 pings' 30 case_twin_ports
    case_add host/rping/option-q near near '3 pings' 30 case_ping lo4 64 3 -q
    case_add host/persistent-8 near near '8+1 clients x 20' 60 case_persistent lo4 8 20 64
    case_add host/persistent-8/twin near near '8+1 clients x 20' 60 case_persistent twin 8 20 64
    case_add host/client-first near near 'REJ 8, then 3 pings' 30 case_client_first lo4
    case_add host/device-removed near near 'exit 255' 30 case_device_removed
    case_add host/idle near near 'under 1 % of a core' 60 case_idle 0
    case_add host/idle/after-traffic near near 'under 1 % of a core' 60 case_idle 1
    for victim in server client; do
        for first in server client; do
            case_add "host/kill-9/$victim-$([ $first = $victim ] && echo owner || echo member)" near near \
                '0.5-2.1 s, DISCONN. 0' 60 case_kill9 lo4 $victim $first 14 neighbour
        done
    done
    for victim in server client; do
        for first in server client; do
            case_add "host/kill-9/idle-$victim-$([ $first = $victim ] && echo owner || echo member)" near near 'DISCONNECTED < 2 s' 40 case_kill9_idle $victim $first
        done
    done
    for victim in server client; do
        case_add "host/kill-9/rstream-$victim" near near 'fails < 5 s' 40 case_kill9_stream lo4 $victim 5 -S 65536 -C 1000000
        case_add "host/kill-9/rstream-$victim-b" near near 'fails < 5 s' 40 case_kill9_stream v4 $victim 5 -S 65536 -C 1000000 -T b
        case_add "host/kill-9/rstream-$victim-a" near near 'fails < 5 s' 40 case_kill9_stream lo6 $victim 5 -S 64 -C 1 -I 10000000 -T a
    done
    for victim in server client; do
        for first in server client; do
            case_add "host/kill-9/ll/$victim-$([ $first = $victim ] && echo owner || echo member)" near near \
                '0.5-2.1 s, DISCONN. 0' 60 case_kill9 ll $victim $first 14 neighbour
        done
    done
    for family in ll twin; do
        case_add host/kill-9/$family/far-server far near '0.5-2.1 s, DISCONN. 0' 60 case_kill9 $family server server 14 bystander
        case_add host/owner-killed/$family near near 'no error' 60 case_owner_killed $family
    done
    case_add host/owner-killed/ll/5-rping near near 'no error' 90 case_owner_killed_rping ll
    case_add host/kill-9/far-server far near '0.5-2.1 s, DISCONN. 0' 60 case_kill9 v4 server server 14 bystander
    case_add host/kill-9/far-client near far '0.5-2.1 s, DISCONN. 0' 60 case_kill9 v6 client server 14 bystander
    case_add host/owner-killed/3 near near 'no error' 60 case_owner_killed v4
    case_add host/owner-killed/5-rping near near 'no error' 90 case_owner_killed_rping lo4
    $full || return
    case_add host/kill-9/far-server-alone far near '0.5-2.1 s, DISCONN. -110' 150 case_kill9 v4 server server 14 nobody
    case_add host/kill-9/far-client-alone near far '0.5-2.1 s, DISCONN. -110' 150 case_kill9 v6 client server 14 nobody
    case_add host/kill-9/rstream-far-server far near 'fails < 75 s' 120 case_kill9_stream v4 server 75 -S 65536 -C 1000000
    case_add host/kill-9/rstream-far-client near far 'fails < 75 s' 120 case_kill9_stream v4 client 75 -S 64 -C 1 -I 10000000 -T b
    case_add host/kill-9/default-timeout near near '17-69 s, DISCONN. 0' 120 case_kill9 lo4 server server 19 neighbour
    case_add host/silent-peer far near 'UNREACHABLE -110' 150 case_silent v4
}
