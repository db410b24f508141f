# The table of cases; sourced by other scripts. README.md explains how to add a case.
#
# case_add NAME SERVER CLIENT "EXPECTED" SECONDS FUNCTION ARGUMENTS...
#   NAME      a name with slashes, which --only matches
#   SERVER, CLIENT  "linux", "host", "exec", "near" or "far", see rping.sh; a case with "near" needs no guest
#   SECONDS   timeout of every process of the case
#   FUNCTION  is called with SERVER CLIENT ARGUMENTS...; it uses lib/rping.sh and reports a failure by explain

port=7174

# The cases that --quick leaves out: further sizes, counts, options and address families of other cases, and what the tests of
# the tools cover in one process. Each tool is still run in both roles.
beyond_quick='^('
beyond_quick+='size/v4/(23|64|1000|4096)|size/v6/(23|1000|4096|65535)|persistent/v6-4096|wildcard/v4|option-q|refused/v6|source-address'
beyond_quick+='|loss/1%-(nft|netem)/.*|loss/5%-nft/v6|killed/.*-INT'
beyond_quick+='|perftest/[a-z_]+/(-b|-[DqQlz]-?[0-9]*|64K|UD-b|-e|swap|-a-UD)|perftest/ib_[a-z]+_(lat|bw)/(tcp|UC)|perftest/ib_send_bw/UD'
beyond_quick+='|pingpong/(rc|srq|uc|ud)/(events|v6)|cmtime/classic/(-c-1|-c-10|-p|v6)'
beyond_quick+='|ucmatose/(-C-0|-P-ib|-P-tcp|-S-1|-c-2|-c-8|-t|v6|-f-name|-f-ip|-m|v4)|udaddy/(-S-1|-S-1024|-c-8|-t|v6)|mckey/(-C-50|-o|-c-3|-S-1024)'
beyond_quick+='|rstream/(-S-(16|64|1000|4096|65536)|-T-[abnr]|-B|-I|v6)|riostream/(-S-1m|-T-[ab]|v6)|rdma_client/(any|v6|-p|ll)'
beyond_quick+='|rdma_xclient/(-c-r|refused)|option-(d|a-any/v[46])|ucmatose/(-p|-b-any/v[46]|loss|reorder)|udaddy/(-P|-p|-f-ipv6|-f-name)'
beyond_quick+='|mckey/(no-b|-p|mixed)|rstream/(-T-[sf]|-k|-p|loss|reorder)|rcopy/loss|pingpong/(rc|uc|ud|srq)/(-m|-r|-l|-N)|perftest/.*/loss'
beyond_quick+='|ucmatose/(ll|-a|-S-100000)|udaddy/-C-50|rdma_client/refused|cmtime/classic/ll'
beyond_quick+='|(rstream|riostream)/(ll|-T-ab)|host/(ucmatose|udaddy|rdma_client|rstream|riostream|udpong)/ll|host/rdma_xclient/v4|host/mckey/-o'
beyond_quick+='|host/rping/option-q|host/kill-9/(server-member|client-owner)'
beyond_quick+='|host/[a-z_]+/(lo4|lo6|v6|far-v6|far-ll|far-twin/65535|twin|twin/64|ll/64|v4/64|lo4/[0-9]+|lo6/[0-9]+|far-v6/65535|far-ll/65535)'
beyond_quick+='|flush/v6|host/flush/(lo4|far-v6)'
beyond_quick+='|host/cmtime/(classic|mesh)/(lo4|lo6|v4|v6|far-v6|far-ll|ll)|host/udpong/(far-ab|far-bw|far-2000)|host/rcopy/(2g|2g-loss)|host/persistent-8/twin'
beyond_quick+='|host/kill-9/(ll/.*|idle-.*|rstream-(client|server)-[ab]|twin/.*)|host/owner-killed/(ll|ll/.*|twin)|host/idle/after-traffic'
beyond_quick+='|exec/(rping/(v4|ll|persistent|refused)|ucmatose/.*|udaddy.*|rdma_.*|rstream/v6|riostream|rcopy|cmtime|killed|pingpong/(uc|srq|v6))'
beyond_quick+='|exec/perftest/(ib_(send|read|atomic)_bw.*|ib_(write|read)_lat|ib_write_bw/.*)'
beyond_quick+=')$'

# One server and one client, both with -v, the client also with -V. Both must exit with 0 and print exactly the right bytes.
case_ping() { # SERVER CLIENT FAMILY SIZE COUNT [OPTIONS...]
    local server=$1 client=$2 family=$3 size=$4 count=$5
    shift 5
    rping_serve "$server" server $port -a "$(side_address "$server" "$family")" -S "$size" -v "$@" || return 1
    rping_start "$client" client -c -a "$(side_address "$server" "$family" "$client")" -p $port -S "$size" -C "$count" -v -V "$@"
    judge_pair "$size" "$count"
}

judge_pair() { # SIZE COUNT
    local bad=0
    rping_wait client || explain 'the client did not end' || bad=1
    server_ends_after_client || bad=1
    expect_code client 0 || bad=1
    expect_pings client client "$1" "$2" || bad=1
    expect_no_complaint client || bad=1
    expect_code server 0 || bad=1
    expect_pings server server "$1" "$2" || bad=1
    expect_lines server err '^server DISCONNECT EVENT\.\.\.$' || bad=1
    expect_no_complaint server || bad=1
    return $bad
}

server_ends_after_client() {
    local seconds=15
    [ "$(exit_code client)" = 0 ] || seconds=3
    rping_wait server $seconds && return
    explain 'the server did not end after its client'
    rping_signal server INT # so that it says what it knows
    rping_wait server 5
    return 1
}

# A server without -a, or with -a ::0, accepts clients of both address families.
case_wildcard() { # SERVER CLIENT FAMILY [OPTIONS OF THE SERVER...]
    local server=$1 client=$2 family=$3
    shift 3
    rping_start "$server" server -s -p $port -v "$@"
    wait_until $start_seconds listening "$server" server $port || { explain "the server did not listen within $start_seconds s"; return 1; }
    rping_start "$client" client -c -a "$(side_address "$server" "$family" "$client")" -p $port -C 3 -v -V
    judge_pair 64 3
}

# -I names the client's own address.
case_source() { # SERVER CLIENT FAMILY
    local server=$1 client=$2 family=$3
    rping_serve "$server" server $port -a "$(side_address "$server" "$family")" -v || return 1
    rping_start "$client" client -c -I "$(side_address "$client" "$family")" -a "$(side_address "$server" "$family" "$client")" -p $port -C 3 -v -V
    judge_pair 64 3
}

# A persistent server with N concurrent clients, then another one. The server must keep running until SIGINT ends it.
case_persistent() { # SERVER CLIENT FAMILY CLIENTS COUNT SIZE
    local server=$1 client=$2 family=$3 clients=$4 count=$5 size=$6 i bad=0
    rping_serve "$server" server $port -a "$(side_address "$server" "$family")" -P -v -S "$size" || return 1
    for i in $(seq "$clients"); do
        rping_start "$client" "client$i" -c -a "$(side_address "$server" "$family" "$client")" -p $port -S "$size" -C "$count" -v -V
        ! side_is_c "$server" || connected_alone "client$i" || bad=1
    done
    for i in $(seq "$clients"); do rping_wait "client$i" || explain "client$i did not end" || bad=1; done
    rping_start "$client" client-last -c -a "$(side_address "$server" "$family" "$client")" -p $port -S "$size" -C "$count" -v -V
    rping_wait client-last || explain 'the last client did not end' || bad=1
    ! rping_ended server || explain 'the server ended' || bad=1
    for i in $(seq "$clients") -last; do
        expect_code "client$i" 0 || bad=1
        expect_pings "client$i" client "$size" "$count" || bad=1
        expect_no_complaint "client$i" || bad=1
    done
    rping_signal server INT
    rping_wait server 10 || explain 'the server did not end on SIGINT' || bad=1
    [ "$(grep -ac '^server ping data: ' "$case_dir/server.out")" = $(((clients + 1) * count)) ] ||
        explain "the server printed $(grep -ac '^server ping data: ' "$case_dir/server.out") pings of $(((clients + 1) * count))" || bad=1
    return $bad
}

# rping of rdma-core 44 loses a request that arrives while it accepts another one, and fails when it uses the other one twice
# (fixed in later versions). The clients of such a server therefore connect one after another, and then ping concurrently.
connected_alone() { # LABEL
    if side_in_guest "${job_side[$1]}"; then
        sleep 1 # its output comes at its end
    else
        connected() { rping_ended "$1" || [ -s "$case_dir/$1.out" ]; }
        wait_until 20 connected "$1" || explain "$1 saw no ping"
    fi
}

# No process listens on the port: REJ reason 8. A user-space stack can reply only while one of its processes runs, so on the
# Java side a server listens on the next port. On Linux the kernel replies.
case_refused() { # SERVER CLIENT FAMILY
    local server=$1 client=$2 family=$3
    side_uses_kernel "$server" || rping_serve "$server" bystander $((port + 1)) -a "$(side_address "$server" "$family")" || return 1
    rping_start "$client" client -c -a "$(side_address "$server" "$family" "$client")" -p $port -C 3 -v -V
    judge_rejected 8
}

# A process listens on the port, but at another address. Linux replies with REJ 28, and a stack that looks listeners up by
# address with REJ 8.
case_bound_elsewhere() { # SERVER CLIENT REASONS
    local server=$1 client=$2 reasons=$3
    [ "$server" = linux ] || rping_serve "$server" bystander $((port + 1)) -a "$(side_address "$server" v4)" || return 1
    rping_serve "$server" elsewhere $port -a "$(side_address "$server" v6)" || return 1
    rping_start "$client" client -c -a "$(side_address "$server" v4 "$client")" -p $port -C 3 -v -V
    judge_rejected "$reasons"
}

# The server is stopped before it receives the request, and then killed. Its kernel rejects the request with reason 28.
case_rejected() { # SERVER CLIENT
    local server=$1 client=$2
    rping_serve "$server" server $port -a "$(side_address "$server" v4)" || return 1
    rping_signal server STOP
    rping_start "$client" client -c -a "$(side_address "$server" v4 "$client")" -p $port -C 3 -v -V
    sleep 3
    ! rping_ended client || explain 'the client ended before the server was killed' || return 1
    rping_signal server KILL
    judge_rejected 28
}

judge_rejected() { # REASON-REGEX
    local bad=0
    rping_wait client || explain 'the client did not end' || bad=1
    expect_code client 255 || bad=1
    expect_lines client err "^cma event RDMA_CM_EVENT_REJECTED, error ($1)\$" || bad=1
    expect_pings client client 64 0 || bad=1
    return $bad
}

# One side is killed while it pings. Its kernel (or, on SIGINT, the Java tool) disconnects, and the other side exits: with 0, or
# with 255 if the event overtakes a completion. The C tool does either.
case_killed() { # SERVER CLIENT VICTIM(server|client) SIGNAL
    local server=$1 client=$2 victim=$3 signal=$4 other=client watched bad=0
    [ "$victim" = server ] || other=server
    watched=$other # the output of C comes at its end
    rping_serve "$server" server $port -a "$(side_address "$server" v4)" -v || return 1
    rping_start "$client" client -c -a "$(side_address "$server" v4 "$client")" -p $port -v -V
    ! side_in_guest "${job_side[$other]}" || watched=$victim
    pinging() { side_in_guest "${job_side[$watched]}" || [ "$(wc -l <"$case_dir/$watched.out")" -gt 20 ]; }
    wait_until 10 pinging || explain "$watched saw no ping" || bad=1
    sleep 1
    rping_signal $victim "$signal"
    rping_wait $other 15 || explain "$other did not end after its peer was killed" || bad=1
    expect_code_or $other 0 255 || bad=1
    expect_lines $other err "^$other DISCONNECT EVENT\.\.\.\$" || bad=1
    [ "$(grep -ac 'ping data: ' "$case_dir/$other.out")" -gt 0 ] || explain "$other saw no ping" || bad=1
    return $bad
}

# fault_on netem|nft FAULT : loses, delays, reorders or duplicates packets in both directions until fault_off netem|nft, which
# remarks how many were dropped.
fault_on() {
    case $1 in
        netem) netem_on "$2" ;;
        nft) nft_loss_on "$2" ;;
    esac || explain "cannot put $1 $2 in place"
}
fault_off() {
    local dropped
    case $1 in
        netem) dropped=$(netem_off) ;;
        nft) dropped=$(nft_loss_off) ;;
    esac
    remark "$dropped packets dropped"
    total_dropped=$((total_dropped + dropped))
}

# Pings while packets are lost, delayed, reordered or duplicated in both directions.
case_faulty() { # SERVER CLIENT FAMILY SIZE COUNT netem|nft FAULT
    local server=$1 client=$2 family=$3 size=$4 count=$5 by=$6 fault=$7 bad=0
    rping_serve "$server" server $port -a "$(side_address "$server" "$family")" -S "$size" -v || return 1
    fault_on "$by" "$fault" || return 1
    rping_start "$client" client -c -a "$(side_address "$server" "$family" "$client")" -p $port -S "$size" -C "$count" -v -V
    rping_wait client || explain 'the client did not end' || bad=1
    if ! rping_wait server 8; then
        # If a client exits right after its DREQ was lost, no process repeats the DREQ and the server waits indefinitely. The
        # same happens with C on both sides. The case requires only that all pings are right.
        remark 'server ended by SIGINT (DREQ lost)'
        rping_signal server INT
        rping_wait server 10 || explain 'the server did not end on SIGINT' || bad=1
    else
        # Status 255: the acknowledgement of the last SEND was lost, so the DREQ overtook the completion. The C tool does the same.
        expect_code_or server 0 255 || bad=1
    fi
    fault_off "$by"
    expect_code client 0 || bad=1
    expect_pings client client "$size" "$count" || bad=1
    expect_pings server server "$size" "$count" || bad=1
    return $bad
}

# case_under SERVER CLIENT netem|nft FAULT FUNCTION ARGUMENTS... : another case while packets are lost, delayed or reordered in both
# directions.
case_under() {
    local server=$1 client=$2 by=$3 fault=$4 function=$5 bad=0
    shift 5
    fault_on "$by" "$fault" || return 1
    "$function" "$server" "$client" "$@" || bad=1
    fault_off "$by"
    return $bad
}

# Path MTU 4096: both devices take their MTU from the interface.
case_jumbo() { # SERVER CLIENT FAMILY
    local bad=0 name
    mtu_set 5000
    case_ping "$1" "$2" "$3" 65535 4 || bad=1
    mtu_set "$mtu"
    return $bad
}

define_cases() {
    local server client family size count pair
    for pair in 'host linux' 'linux host'; do
        set -- $pair
        for family in v4 v6; do
            for size in 64 23 1000 4096 65535; do
                count=10
                [ $size -lt 65535 ] || count=4
                case_add "size/$family/$size" "$1" "$2" "$count pings" 30 case_ping $family $size $count
            done
        done
        case_add linklocal "$1" "$2" '3 pings' 30 case_ping ll 64 3
        case_add option-q "$1" "$2" '3 pings' 30 case_ping v4 64 3 -q
        case_add option-d "$1" "$2" '3 pings' 30 case_ping v4 64 3 -d
        case_add wildcard/v4 "$1" "$2" '3 pings' 30 case_wildcard v4
        for family in v4 v6; do case_add "option-a-any/$family" "$1" "$2" '3 pings' 30 case_wildcard $family -a ::0; done
        case_add source-address "$1" "$2" '3 pings' 30 case_source v4
        count=5
        [ "$1" = host ] || count=50 # long enough to meet the clients that connect later
        case_add persistent/v4 "$1" "$2" "6+1 clients x $count" 60 case_persistent v4 6 $count 64
        case_add persistent/v6-4096 "$1" "$2" "4+1 clients x $count" 60 case_persistent v6 4 $count 4096
        case_add refused/v4 "$1" "$2" 'REJ 8, exit 255' 30 case_refused v4
        case_add refused/v6 "$1" "$2" 'REJ 8, exit 255' 30 case_refused v6
        case_add jumbo-mtu/v4 "$1" "$2" '4 pings of 65535' 30 case_jumbo v4
    done
    define_pingpong_cases host linux
    define_perftest_cases host linux
    define_message_cases host linux
    define_cmtime_cases host linux
    define_socket_cases host linux
    define_flush_cases host linux
    define_pingpong_cases linux host
    define_perftest_cases linux host
    define_message_cases linux host
    define_cmtime_cases linux host
    define_socket_cases linux host
    define_flush_cases linux host
    for pair in 'host linux' 'linux host'; do
        case_add ucmatose/loss $pair '10 messages each way' 100 case_under nft 20 case_messages ucmatose v4
        case_add ucmatose/reorder $pair '10 messages each way' 100 case_under netem 'delay 3ms reorder 25% 50%' case_messages ucmatose v4
        case_add rstream/loss $pair '100 x 1000 bytes' 100 case_under nft 20 case_stream rstream v4 'custom 1000 100 1 195k' -C 100 -T v
        case_add rstream/reorder $pair '100 x 1000 bytes' 100 case_under netem 'delay 3ms reorder 25% 50%' \
            case_stream rstream v4 'custom 1000 100 1 195k' -C 100 -T v
        case_add rcopy/loss $pair '200 kB' 100 case_under nft 20 case_rcopy v4 200000
        case_add perftest/ib_write_bw/loss $pair '100 x 4 KiB' 100 case_under nft 10 case_perftest ib_write_bw 4096 100 -R -n 100 -s 4096
    done
    case_add rejected/stopped-server linux host 'REJ 28, exit 255' 30 case_rejected
    case_add rejected/bound-elsewhere linux host 'REJ 28, exit 255' 30 case_bound_elsewhere 28
    case_add rejected/bound-elsewhere host linux 'REJ 8|28, exit 255' 30 case_bound_elsewhere '8|28'
    case_add killed/client-KILL host linux 'server ends' 30 case_killed client KILL
    case_add killed/server-KILL linux host 'client ends' 30 case_killed server KILL
    case_add killed/client-INT linux host 'server ends' 30 case_killed client INT
    case_add killed/server-INT host linux 'client ends' 30 case_killed server INT
    for pair in 'host linux' 'linux host'; do
        case_add loss/1%-netem/v4 $pair '30 pings' 100 case_faulty v4 64 30 netem 'loss 1%'
        case_add loss/5%-netem/v4 $pair '10 pings' 100 case_faulty v4 64 10 netem 'loss 5%'
        case_add loss/5%-nft/v6 $pair '6 pings' 100 case_faulty v6 64 6 nft 50
        case_add loss/1%-nft/v4-16384 $pair '3 pings' 100 case_faulty v4 16384 3 nft 10
        case_add reorder-dup/v4 $pair '20 pings' 100 case_faulty v4 4096 20 netem 'delay 3ms reorder 25% 50% duplicate 5%'
    done
    [ "$peer" = java ] || return 0
    case_add rxe-holds-port java-in-guest java-in-guest 'explained, exit 255' 60 case_rxe_holds_port
    case_add rxe-has-address java-in-guest java-in-guest 'explained, exit 255' 60 case_rxe_has_address
    define_exec_cases
    define_host_cases
    define_host_stream_cases
    define_host_flush_cases
}
