# ucmatose, udaddy, mckey, rdma_client, rdma_server, rdma_xclient and rdma_xserver, C against Java. Sourced, never run.

# A server, a client, and the same options for both: they end with 0 and printed exactly the right lines.
case_messages() { # SERVER CLIENT ucmatose|udaddy FAMILY [OPTIONS...]
    local server=$1 client=$2 tool=$3 family=$4 listener_port=7471 address
    shift 4
    [ "$tool" = ucmatose ] || listener_port=7174
    [ "$tool" = udaddy ] || [[ " $*" != *' -p '* ]] || { listener_port=" $*" listener_port=${listener_port##* -p }; listener_port=${listener_port%% *}; }
    address=${bound_address:-$(side_address "$server" "$family")}
    tool_start "$server" server "$tool" -b "$address" "$@"
    [ -z "${bound_address:-}" ] || address=
    wait_until $start_seconds listens_on "$server" server "$listener_port" "$address" || { explain "the server did not listen within $start_seconds s"; return 1; }
    tool_start "$client" client "$tool" -s "$(side_address "$server" "$family" "$client")" "$@"
    judge_messages "$tool" "$@"
}

# A server at ::0 accepts clients of both address families.
case_messages_anywhere() { # SERVER CLIENT ucmatose FAMILY
    local bound_address=::0
    case_messages "$@"
}

judge_messages() { # ucmatose|udaddy OPTIONS...
    local tool=$1 label bad=0
    shift
    for label in client server; do
        rping_wait $label || explain "the $label did not end" || bad=1
        expect_code $label 0 || bad=1
        expect_text $label out "$("${tool}_${label}_lines" " $* ")" || bad=1
        expect_text $label err '' || bad=1
    done
    return $bad
}

expect_text() { # LABEL STREAM(out|err) TEXT : exactly this
    printf '%s' "$3${3:+$'\n'}" | cmp -s - "$case_dir/$1.$2" || explain "$1.$2 is not what it must be"
}

expect_quiet() { # LABEL : standard error is empty, except for the line about a warm-up
    ! grep -qv ': warmed up for [0-9.]* s ' "$case_dir/$1.err" || explain "$1.err is not empty"
}

ucmatose_server_lines() {
    echo 'cmatose: starting server'
    [[ $1 == *' -C 0 '* ]] || printf '%s\n' 'initiating data transfers' 'completing sends' 'receiving data transfers' 'data transfers complete'
    [[ $1 != *' -m '* ]] || echo 'migrating to new event channel'
    printf '%s\n' 'cmatose: disconnecting' disconnected 'test complete' 'return status 0'
}
ucmatose_client_lines() {
    printf '%s\n' 'cmatose: starting client' 'cmatose: connecting'
    [[ $1 == *' -C 0 '* ]] || printf '%s\n' 'receiving data transfers' 'sending replies' 'data transfers complete'
    [[ $1 != *' -m '* ]] || echo 'migrating to new event channel'
    printf '%s\n' 'test complete' 'return status 0'
}
udaddy_server_lines() {
    printf '%s\n' 'udaddy: starting server' 'receiving data transfers' 'sending replies' 'data transfers complete' 'test complete' 'return status 0'
}
udaddy_client_lines() {
    printf '%s\n' 'udaddy: starting client' 'udaddy: connecting' 'initiating data transfers' 'receiving data transfers' \
        'data transfers complete' 'test complete' 'return status 0'
}

# Every data packet, in both directions, has the type of service that -t sets.
case_type_of_service() { # SERVER CLIENT ucmatose|udaddy
    local data='(infiniband.bth.opcode == 4 || infiniband.bth.opcode == 101)' with without bad=0 # RC SEND only, UD SEND with immediate
    case_messages "$1" "$2" "$3" v4 -t 0x28 || bad=1
    with=$(packets_like "$data && ip.dsfield == 0x28")
    without=$(packets_like "$data && ip.dsfield != 0x28")
    [ "$with" -ge 20 ] && [ "$without" = 0 ] || explain "$with messages have the type of service, $without have not" || bad=1
    return $bad
}
packets_like() { sleep 1.2; tshark -r "$case_dir/capture.pcap" -Y "$1" 2>/dev/null | wc -l; } # DISPLAY-FILTER : of the capture until now, which tcpdump writes once a second

# Starts the sender of a group. mckey does not wait for its sends, and Linux 6.12 drops those that it has not transmitted when the queue pair is
# destroyed (docs/linux-and-the-specification.md).
mckey_send() { # SIDE OPTIONS...
    linux_sent_before=
    ! side_is_c "$1" || linux_sent_before=$(linux_sent "$1")
    tool_start "$1" sender mckey "${@:2}" -s
}
linux_sent() { guest_sh "$(side_guest "$1")" 'cat /sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts'; } # SIDE : packets

# Has the case run again if Linux sent less than mckey has posted. Called when a receiver got less than it should.
mckey_blame() { # SIDE MESSAGES
    local sent
    [ -n "$linux_sent_before" ] || return
    sent=$(($(linux_sent "$1") - linux_sent_before))
    [ "$sent" -ge "$2" ] || fault_of_linux="Linux sent $sent of $2 datagrams"
}

# Several receivers, then one sender: each receiver gets all messages.
case_mckey() { # RECEIVERS-SIDE SENDER-SIDE FAMILY RECEIVERS "RECEIVER-OPTIONS" SENDER-OPTIONS...
    local server=$1 client=$2 family=$3 receivers=$4 options=$5 group=239.88.0.1 messages=10 label labels=() bad=0
    [ "$family" != v6 ] || group=ff05::8801
    shift 5
    [ "${1:-}" != -C ] || messages=$2
    for label in $(seq -f 'receiver%g' "$receivers"); do
        labels+=("$label")
        # shellcheck disable=SC2086
        tool_start "$server" "$label" mckey -m $group -b "$(side_address "$server" "$family")" $options
        wait_until $start_seconds tool_said "$label" 'joined dgid' || { explain "$label did not join within $start_seconds s"; return 1; }
    done
    mckey_send "$client" -m $group -b "$(side_address "$client" "$family")" "$@"
    for label in sender "${labels[@]}"; do
        rping_wait "$label" || explain "$label did not end" || bad=1
        expect_code "$label" 0 || bad=1
        expect_text "$label" out "$(mckey_lines "$label" "$group" " $* $options ")" || bad=1
        expect_text "$label" err '' || bad=1
    done
    [ $bad = 0 ] || mckey_blame "$client" "$messages"
    return $bad
}

# One receiver of each kind in one group, and a sender.
case_mckey_mixed() { # ONE-SIDE OTHER-SIDE
    local one=$1 other=$2 group=239.88.0.2 label side bad=0
    for side in "$one" "$other"; do
        label=receiver-$side
        tool_start "$side" "$label" mckey -m $group -b "$(side_address "$side" v4)"
        wait_until $start_seconds tool_said "$label" 'joined dgid' || { explain "$label did not join within $start_seconds s"; return 1; }
    done
    mckey_send "$other" -m $group -b "$(side_address "$other" v4)"
    for label in sender "receiver-$one" "receiver-$other"; do
        rping_wait "$label" || explain "$label did not end" || bad=1
        expect_code "$label" 0 || bad=1
        expect_text "$label" out "$(mckey_lines "$label" "$group" ' ')" || bad=1
        expect_text "$label" err '' || bad=1
    done
    [ $bad = 0 ] || mckey_blame "$other" 10
    return $bad
}

# Without -b, the route to the group selects the interface.
case_mckey_routed() { # RECEIVER-SIDE SENDER-SIDE
    local server=$1 client=$2 group=239.88.0.3 label side bad=0
    for side in "$server" "$client"; do
        if side_in_guest "$side"; then guest_sh "$(side_guest "$side")" 'ip route replace 239.0.0.0/8 dev eth0'; else in_side "$side" ip route replace 239.0.0.0/8 dev tap0; fi
    done
    tool_start "$server" receiver mckey -m $group
    wait_until $start_seconds tool_said receiver 'joined dgid' || { explain "the receiver did not join within $start_seconds s"; return 1; }
    mckey_send "$client" -m $group
    for label in sender receiver; do
        rping_wait $label || explain "the $label did not end" || bad=1
        expect_code $label 0 || bad=1
        expect_text $label out "$(mckey_lines $label $group ' ')" || bad=1
        expect_text $label err '' || bad=1
    done
    [ $bad = 0 ] || mckey_blame "$client" 10
    return $bad
}

mckey_lines() { # LABEL GROUP OPTIONS
    local role=server verb=receiving members=1 i
    [ "$1" != sender ] || role=client verb=initiating
    [ "$role" = client ] || [[ $3 != *' -c '* ]] || members=${3##* -c } members=${members%% *}
    printf '%s\n' "mckey: starting $role" 'mckey: joining'
    for i in $(seq "$members"); do echo "mckey: joined dgid: $([[ $2 == *:* ]] || echo ::ffff:)$2 mlid 0x0 sl 0"; done
    printf '%s\n' "$verb data transfers" 'data transfers complete' 'test complete' 'return status 0'
}

# Prints the output of a process so far.
tool_said() { # LABEL TEXT
    ! rping_ended "$1" || return 0
    if side_in_guest "${job_side[$1]}"; then
        guest_sh "$(side_guest "${job_side[$1]}")" "grep -q '$2' /tmp/$1.out"
    else
        grep -q "$2" "$case_dir/$1.out"
    fi
}

# rdma_server and rdma_client: one message each way. With x rdma_xserver and rdma_xclient: one message.
case_endpoints() { # SERVER CLIENT FAMILY PORT [any [x OPTIONS...]] : any: the server listens on every address
    local server=$1 client=$2 family=$3 listener_port=$4 where=${5:-} x=${6:-} address label bad=0
    shift $(($# < 6 ? $# : 6))
    address=$(side_address "$server" "$family")
    if [ "$where" = any ]; then
        tool_start "$server" server "rdma_${x}server" -p "$listener_port" "$@"
        address=
    else
        tool_start "$server" server rdma_server -s "$address" -p "$listener_port"
    fi
    wait_until $start_seconds listens_on "$server" server "$listener_port" "$address" || { explain "the server did not listen within $start_seconds s"; return 1; }
    tool_start "$client" client "rdma_${x}client" -s "$(side_address "$server" "$family" "$client")" -p "$listener_port" "$@"
    for label in client server; do
        rping_wait $label || explain "the $label did not end" || bad=1
        expect_code $label 0 || bad=1
        expect_text $label out "$(printf '%s\n' "rdma_$x$label: start" "rdma_$x$label: end 0")" || bad=1
        expect_text $label err '' || bad=1
    done
    return $bad
}

# No process listens on the port; see case_refused.
case_endpoint_refused() { # SERVER CLIENT FAMILY [x]
    local server=$1 client=$2 family=$3 tool=rdma_${4:-}client bad=0
    side_uses_kernel "$server" || rping_serve "$server" bystander 7001 -a "$(side_address "$server" "$family")" || return 1
    tool_start "$client" client "$tool" -s "$(side_address "$server" "$family" "$client")" -p 7000
    rping_wait client || explain 'the client did not end' || bad=1
    expect_code client 255 || bad=1
    expect_text client out "$(printf '%s\n' "$tool: start" "$tool: end -1")" || bad=1
    expect_lines client err '^rdma_connect: Connection refused$' || bad=1
    return $bad
}

# The kernel of the guest has no addresses of the family AF_IB on its RoCE device: C fails before the first packet.
case_af_ib() { # linux linux
    local bad=0
    tool_start "$1" bind ucmatose -f gid -P ib -b "::ffff:$(side_address "$1" v4)"
    tool_start "$1" connect ucmatose -f gid -s "::ffff:$(side_address "$1" v4)"
    tool_start "$1" group mckey -M ::ffff:239.88.0.1 -b "$(side_address "$1" v4)"
    for label in bind connect group; do
        rping_wait $label || explain "$label did not end" || bad=1
        expect_code $label 255 || bad=1
    done
    expect_lines bind err '^cmatose: bind address failed: No such device$' || bad=1
    expect_lines connect err '^cmatose: resolve route failed: No such device$' || bad=1
    expect_lines group err '^mckey: failure joining: Unknown error 524$' || bad=1
    return $bad
}

define_message_cases() { # SERVER CLIENT
    local family count
    for family in v4 v6 ll; do case_add "ucmatose/$family" "$1" "$2" '10 messages each way' 60 case_messages ucmatose $family; done
    for count in 2 8 64; do
        case_add "ucmatose/-c-$count" "$1" "$2" "$count connections" 90 case_messages ucmatose v4 -c $count
    done
    case_add ucmatose/-C-100 "$1" "$2" '100 messages' 60 case_messages ucmatose v4 -C 100
    case_add ucmatose/-C-0 "$1" "$2" 'no message' 60 case_messages ucmatose v4 -C 0
    case_add ucmatose/-S-1 "$1" "$2" 'messages of 1 byte' 60 case_messages ucmatose v4 -S 1
    case_add ucmatose/-S-100000 "$1" "$2" '3 x 100000 bytes' 60 case_messages ucmatose v6 -S 100000 -C 3
    case_add ucmatose/-t "$1" "$2" 'DSCP in every packet' 60 case_type_of_service ucmatose
    case_add ucmatose/-a "$1" "$2" '10 messages' 60 case_messages ucmatose v4 -a 12
    case_add ucmatose/-m "$1" "$2" '4 migrate' 60 case_messages ucmatose v4 -m -c 4
    case_add ucmatose/-f-ip "$1" "$2" '10 messages' 60 case_messages ucmatose v6 -f ipv6
    case_add ucmatose/-f-name "$1" "$2" '10 messages' 60 case_messages ucmatose v4 -f name
    case_add ucmatose/-P-tcp "$1" "$2" '10 messages' 60 case_messages ucmatose v4 -P tcp
    case_add ucmatose/-P-ib "$1" "$2" '10 messages' 60 case_messages ucmatose v4 -P ib
    case_add ucmatose/-p "$1" "$2" '10 messages' 60 case_messages ucmatose v4 -p 7999
    for family in v4 v6; do case_add "ucmatose/-b-any/$family" "$1" "$2" '10 messages' 60 case_messages_anywhere ucmatose $family; done
    case_add udaddy/-p "$1" "$2" '10 datagrams each way' 60 case_messages udaddy v4 -p 0x111
    case_add udaddy/-P "$1" "$2" '10 datagrams each way' 60 case_messages udaddy v4 -P udp
    case_add udaddy/-f-ipv6 "$1" "$2" '10 datagrams each way' 60 case_messages udaddy v6 -f ipv6
    case_add udaddy/-f-name "$1" "$2" '10 datagrams each way' 60 case_messages udaddy v4 -f name
    for family in v4 v6; do case_add "udaddy/$family" "$1" "$2" '10 datagrams each way' 60 case_messages udaddy $family; done
    case_add udaddy/-c-8 "$1" "$2" '8 services' 60 case_messages udaddy v4 -c 8
    case_add udaddy/-C-50 "$1" "$2" '50 datagrams' 60 case_messages udaddy v4 -C 50
    case_add udaddy/-S-1 "$1" "$2" '1 byte each' 60 case_messages udaddy v4 -S 1
    case_add udaddy/-S-1024 "$1" "$2" '1024 bytes, the MTU' 60 case_messages udaddy v6 -S 1024
    case_add udaddy/-t "$1" "$2" 'DSCP in every packet' 60 case_type_of_service udaddy
    case_add mckey/v4 "$1" "$2" '2 receivers, 10 each' 60 case_mckey v4 2 ''
    case_add mckey/-c-3 "$1" "$2" '3 members' 60 case_mckey v4 1 '-c 3'
    case_add mckey/-C-50 "$1" "$2" '50 datagrams' 60 case_mckey v4 1 '-C 50' -C 50
    case_add mckey/-S-1024 "$1" "$2" '1024 bytes, the MTU' 60 case_mckey v4 1 '-S 1024' -S 1024
    case_add mckey/-o "$1" "$2" 'sender no member' 60 case_mckey v4 1 '' -o
    case_add mckey/-p "$1" "$2" 'the port space by its number' 60 case_mckey v4 1 '-p 0x111' -p 0x111
    case_cannot mckey/-p-0x2 "$1" "$2" 'the kernel has the port space of IPoIB on InfiniBand only: rdma_bind_addr fails with EINVAL'
    case_add mckey/no-b "$1" "$2" 'by the route' 60 case_mckey_routed
    [ "$1" != host ] || case_add mckey/mixed "$1" "$2" 'C and Java receive' 60 case_mckey_mixed
    for family in v4 v6 ll; do case_add "rdma_client/$family" "$1" "$2" '1 message each way' 40 case_endpoints $family 7471; done
    case_add rdma_client/-p "$1" "$2" '1 message each way' 40 case_endpoints v4 7999
    case_add rdma_client/any "$1" "$2" '1 message each way' 40 case_endpoints v4 7471 any
    case_add rdma_client/refused "$1" "$2" 'refused, exit 255' 40 case_endpoint_refused v4
    case_add rdma_xclient/v4 "$1" "$2" '1 message over RC' 40 case_endpoints v4 7471 any x
    case_add rdma_xclient/-c-r "$1" "$2" '1 message over RC' 40 case_endpoints v4 7999 any x -c r
    case_add rdma_xclient/refused "$1" "$2" 'refused, exit 255' 40 case_endpoint_refused v4 x
    case_cannot rdma_xclient/-c-x "$1" "$2" 'rxe has no XRC'
    local no_ib='Linux has addresses of the family AF_IB on InfiniBand only: af-ib/c'
    [ "$1" = linux ] || case_add af-ib/c linux linux 'C cannot: no such device' 40 case_af_ib
    case_cannot ucmatose/-f-gid "$1" "$2" "$no_ib"
    case_cannot mckey/-M "$1" "$2" "$no_ib"
    case_cannot mckey/v6 "$1" "$2" 'rxe refuses to join IPv6 groups'
    case_cannot mckey/-l "$1" "$2" 'rxe cannot keep a queue pair from hearing itself'
}

# The same tools between processes of one host, and between two hosts that both run Java.
define_host_message_cases() {
    local family
    for family in lo4 v4 lo6 v6 ll twin; do
        case_add "host/ucmatose/$family" near near '10 messages each way' 30 case_messages ucmatose $family
        case_add "host/udaddy/$family" near near '10 datagrams each way' 30 case_messages udaddy $family
        case_add "host/rdma_client/$family" near near '1 message each way' 30 case_endpoints $family 7471
    done
    for family in lo4 v4; do
        case_add "host/rdma_xclient/$family" near near '1 message over XRC' 30 case_endpoints $family 7471 any x -c x
    done
    case_add host/rdma_xclient/far-v4 far near '1 message over XRC' 30 case_endpoints v4 7471 any x -c x
    for family in v4 v6 ll; do
        case_add "host/ucmatose/far-$family" far near '8 connections' 30 case_messages ucmatose $family -c 8 -S 5000
        case_add "host/udaddy/far-$family" far near '8 services' 30 case_messages udaddy $family -c 8
    done
    case_add host/ucmatose/-c-1000 far near '1000 connections' 60 case_messages ucmatose v4 -c 1000
    for family in lo4 v4 v6; do
        case_add "host/mckey/$family" near near '2 receivers, 10 each' 30 case_mckey $family 2 ''
    done
    for family in v4 v6; do
        case_add "host/mckey/far-$family" far near '2 receivers, 3 members each' 30 case_mckey $family 2 '-c 3'
    done
    case_add host/mckey/-o far near 'sender no member' 30 case_mckey v6 1 '' -o
}
