# C programs that run on this host by rdma4j exec, against the same programs in the guest; sourced by other scripts.

exec_device=rdma4j_tap0

# The index of the GID of an address family in the table of the device.
declare -A exec_gid_index

# Builds the library, as root, since the user of the programs cannot write to the checkout. The namespace has no network, and a build needs
# none.
exec_prepare() {
    local family
    "$launcher" exec -- true || die "$launcher exec -- true failed: no case exec/... can run"
    for family in v4 v6 ll; do
        exec_gid_index[$family]=$(in_netns "${exec_user[@]}" "$launcher" exec -- ibv_devinfo -v -d $exec_device |
            gid_index_of "$(side_address exec $family)")
        [ -n "${exec_gid_index[$family]}" ] || die "$exec_device has no GID of $(side_address exec $family)"
    done
}

# Prints the index of the GID of an address in the output of ibv_devinfo -v.
gid_index_of() { # ADDRESS
    sed -n 's/.*GID\[ *\([0-9]*\)\]:[[:space:]]*\([^,]*\).*/\1 \2/p' | awk -v a="${1%\%*}" '$2 == a || $2 == "::ffff:" a { print $1; exit }'
}

# The programs run as an ordinary user, with 64 KiB of locked memory.
exec_user=(prlimit --memlock=65536:65536 --core=0 setpriv --reuid nobody --regid "$(id -g nobody)" --clear-groups
    env -u XDG_RUNTIME_DIR HOME=/nonexistent)

# exec_start LABEL TOOL ARGUMENTS... : starts the C tool on this host. stdbuf as in tool_start.
exec_start() {
    local label=$1
    shift
    # rcopy writes its file there, and the parent folders may be root's alone.
    chmod 1777 "$case_dir"
    java_start exec "$label" "${exec_user[@]}" "$launcher" exec --no-warm-up -- stdbuf -oL "$@"
}

define_exec_cases() {
    local pair tool kind
    for pair in 'exec linux' 'linux exec'; do
        set -- $pair
        case_add exec/rping/v4 "$1" "$2" '10 pings' 30 case_ping v4 64 10
        case_add exec/rping/v6 "$1" "$2" '4 pings of 65535' 30 case_ping v6 65535 4
        case_add exec/rping/ll "$1" "$2" '3 pings' 30 case_ping ll 64 3
        case_add exec/rping/persistent "$1" "$2" '3+1 clients x 20' 60 case_persistent v4 3 20 4096
        case_add exec/rping/refused "$1" "$2" 'REJ 8, exit 255' 30 case_refused v4
        case_add exec/ucmatose "$1" "$2" '8 connections' 60 case_messages ucmatose v4 -c 8
        case_add exec/ucmatose/v6 "$1" "$2" '3 x 100000 bytes' 60 case_messages ucmatose v6 -S 100000 -C 3
        case_add exec/ucmatose/loss "$1" "$2" '10 messages each way' 100 case_under nft 50 case_messages ucmatose v4
        case_add exec/udaddy "$1" "$2" '10 datagrams each way' 60 case_messages udaddy v4
        case_add exec/udaddy/v6 "$1" "$2" '4 services' 60 case_messages udaddy v6 -c 4 -S 1024
        case_add exec/mckey "$1" "$2" '2 receivers, 10 each' 60 case_mckey v4 2 ''
        case_add exec/rdma_client "$1" "$2" '1 message each way' 40 case_endpoints v4 7471
        case_add exec/rdma_xclient "$1" "$2" '1 message over RC' 40 case_endpoints v4 7471 any x
        case_add exec/rstream "$1" "$2" '100 x 1000 bytes' 60 case_stream rstream v4 'custom 1000 100 1 195k' -C 100 -T v
        case_add exec/rstream/v6 "$1" "$2" 'blocking' 60 case_stream rstream v6 'custom 19k 50 2 3.8m' -S 20000 -C 50 -I 2 -T b -T v
        case_add exec/riostream "$1" "$2" '3 x 1 MiB' 60 case_stream riostream v4 'custom 1m 3 1 6m' -S 1048576 -C 3 -T v
        case_add exec/rcopy "$1" "$2" '2 MB' 60 case_rcopy v4 2000000
        if [ -z "$guest_layer" ]; then
            case_add exec/cmtime "$1" "$2" '10 connections' 60 case_cmtime_classic v4 10
        else
            case_cannot exec/cmtime "$1" "$2" 'cmtime of rdma-core 45 to 60 in the guest has a protocol of its own, and the host has that of 44'
        fi
        for kind in rc uc srq; do
            case_add "exec/pingpong/$kind" "$1" "$2" '100 exchanges' 40 case_pingpong ibv_${kind}_pingpong v4 4096 100
        done
        case_add exec/pingpong/ud "$1" "$2" '100 exchanges' 40 case_pingpong ibv_ud_pingpong v4 1024 100
        case_add exec/pingpong/v6 "$1" "$2" '20 by events' 40 case_pingpong ibv_rc_pingpong v6 333 20 -e
        case_cannot exec/pingpong/xsrq "$1" "$2" 'rxe has no XRC: ibv_open_xrcd fails with EOPNOTSUPP'
        for tool in send write read; do
            case_add "exec/perftest/ib_${tool}_lat" "$1" "$2" '100 x 2 bytes' 60 case_perftest ib_${tool}_lat 2 100 -n 100
            case_add "exec/perftest/ib_${tool}_bw" "$1" "$2" '100 x 64 KiB' 60 case_perftest ib_${tool}_bw 65536 100 -n 100
            case_add "exec/perftest/ib_${tool}_bw/-R" "$1" "$2" '2 x 100 x 4 KiB' 60 case_perftest ib_${tool}_bw 4096 200 -R -n 100 -s 4096 -q 2
        done
        case_add exec/perftest/ib_atomic_lat "$1" "$2" '100 fetch-and-add' 60 case_perftest ib_atomic_lat 8 100 -n 100
        case_add exec/perftest/ib_atomic_bw "$1" "$2" '100 fetch-and-add' 60 case_perftest ib_atomic_bw 8 100 -n 100
        case_add exec/perftest/ib_send_bw/UD "$1" "$2" '100 datagrams of 1 KiB' 60 case_perftest ib_send_bw 1024 100 -n 100 -s 1024 -c UD
        case_add exec/perftest/ib_send_bw/UC "$1" "$2" '100 x 1 KiB' 60 case_perftest ib_send_bw 1024 100 -n 100 -s 1024 -c UC
        case_add exec/perftest/ib_send_lat/-R "$1" "$2" '50 x 1 KiB, by events' 60 case_perftest ib_send_lat 1024 50 -R -n 50 -s 1024 -e
        case_add exec/perftest/ib_write_bw/loss "$1" "$2" '100 x 4 KiB' 100 case_under nft 10 case_perftest ib_write_bw 4096 100 -n 100 -s 4096
    done
    case_add exec/killed exec linux 'server ends' 30 case_killed client KILL
    case_add exec/killed linux exec 'client ends' 30 case_killed server KILL
}
