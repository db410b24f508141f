# The ping-pongs of libibverbs, C against Java; sourced by other scripts.

pingpong_port=18515

# Prints the options that name the device and the GID of a side. With the software device, a Java tool derives both from an address.
pingpong_device() { # SIDE FAMILY
    local address index
    address=$(side_address "$1" "$2")
    if [ "$1" = exec ]; then
        echo "-d $exec_device -g ${exec_gid_index[$2]}"
        return
    fi
    if ! side_uses_kernel "$1"; then
        echo "--device $address"
        return
    fi
    index=$(guest_sh "$(side_guest "$1")" "rdma_gid() { ibv_devinfo -v -d $guest_device | sed -n 's/.*GID\[ *\([0-9]*\)\]:[[:space:]]*\([^,]*\).*/\1 \2/p'; }
        rdma_gid | awk -v a=$address '\$2 == a || \$2 == \"::ffff:\" a { print \$1; exit }'")
    echo "-d $guest_device -g ${index:-none}"
}

pingpong_listens() { # SIDE LABEL
    local sockets="ss -ltnH"
    ! rping_ended "$2" || return 0
    if side_in_guest "$1"; then
        guest_sh "$(side_guest "$1")" "$sockets" | grep -q ":$pingpong_port "
    else
        in_side "$1" $sockets | grep -q ":$pingpong_port "
    fi
}

# One server and one client with the same options, over the GIDs of FAMILY. C's server accepts TCP connections over IPv4 only.
# Both must exit with 0 and print the same addresses and amounts of data.
case_pingpong() { # SERVER CLIENT TOOL FAMILY SIZE COUNT [OPTIONS...]
    local server=$1 client=$2 tool=$3 family=$4 size=$5 count=$6 bad=0 label at_server at_client queue_pairs=1
    shift 6
    [ "$tool" != ibv_srq_pingpong ] || queue_pairs=16
    [ "${1:-}" != -q ] || queue_pairs=$2
    at_server=$(pingpong_device "$server" "$family")
    at_client=$(pingpong_device "$client" "$family")
    # shellcheck disable=SC2086
    tool_start "$server" server "$tool" $at_server -s "$size" -n "$count" -c "$@"
    wait_until $start_seconds pingpong_listens "$server" server || { explain "the server did not listen within $start_seconds s"; return 1; }
    # shellcheck disable=SC2086
    tool_start "$client" client "$tool" $at_client -s "$size" -n "$count" -c "$@" "$(side_address "$server" v4)"
    for label in client server; do
        rping_wait $label || explain "the $label did not end" || bad=1
        expect_code $label 0 || bad=1
        expect_lines $label out "^$((2 * size * count)) bytes in [0-9.]+ seconds = [0-9.]+ Mbit/sec\$" || bad=1
        expect_lines $label out "^$count iters in [0-9.]+ seconds = [0-9.]+ usec/iter\$" || bad=1
        ! grep -q . "$case_dir/$label.err" || explain "the $label complains" || bad=1
        [ "$(wc -l <"$case_dir/$label.out")" = $((2 * queue_pairs + 2)) ] || explain "the $label printed other lines" || bad=1
    done
    [ "$(pingpong_place server local)" = "$(pingpong_place client remote)" ] &&
        [ "$(pingpong_place client local)" = "$(pingpong_place server remote)" ] ||
        explain 'the two sides do not agree where they are' || bad=1
    return $bad
}

# ibv_ud_pingpong prints a colon where the others print a comma.
pingpong_place() { sed -n "s/^  $2 address: *//p" "$case_dir/$1.out" | tr ':' ','; } # LABEL local|remote

define_pingpong_cases() { # SERVER CLIENT
    local kind family size
    for kind in rc uc ud; do
        size=4096
        [ $kind != ud ] || size=1024
        for family in v4 v6; do
            case_add "pingpong/$kind/$family" "$1" "$2" '100 exchanges' 40 case_pingpong ibv_${kind}_pingpong $family $size 100
        done
        [ $kind = ud ] || case_add "pingpong/$kind/-m" "$1" "$2" 'path MTU of 512' 40 case_pingpong ibv_${kind}_pingpong v4 4096 100 -m 512
        case_add "pingpong/$kind/-r" "$1" "$2" '10 receives' 40 case_pingpong ibv_${kind}_pingpong v4 $size 100 -r 10
        case_add "pingpong/$kind/-l" "$1" "$2" 'service level 1' 40 case_pingpong ibv_${kind}_pingpong v4 $size 100 -l 1
        case_add "pingpong/$kind/events" "$1" "$2" '20 exchanges of 333' 40 case_pingpong ibv_${kind}_pingpong v4 333 20 -e
    done
    case_add "pingpong/rc/-N" "$1" "$2" 'the new way to send' 40 case_pingpong ibv_rc_pingpong v4 4096 100 -N
    for family in v4 v6; do
        case_add "pingpong/srq/$family" "$1" "$2" '300 exchanges' 40 case_pingpong ibv_srq_pingpong $family 4096 300
    done
    case_add "pingpong/srq/events" "$1" "$2" '50 exchanges of 333' 40 case_pingpong ibv_srq_pingpong v4 333 50 -q 5 -e
    case_cannot pingpong/xsrq "$1" "$2" 'rxe has no XRC: ibv_open_xrcd fails with EOPNOTSUPP'
}
