# The tools of RDMA sockets, C against Java; sourced by other scripts.

# A server and a client with the same options. Both must exit with 0, and print the header and exactly the expected rows.
case_stream() { # SERVER CLIENT rstream|riostream FAMILY "ROW;ROW" OPTIONS...
    local server=$1 client=$2 tool=$3 family=$4 rows=$5 label bad=0
    shift 5
    tool_start "$server" server "$tool" -b "$(side_address "$server" "$family")" "$@"
    wait_until $((2 * start_seconds)) tool_said server '^name ' || { explain "the server did not listen within $((2 * start_seconds)) s"; return 1; }
    tool_start "$client" client "$tool" -s "$(side_address "$server" "$family" "$client")" "$@"
    for label in client server; do
        rping_wait $label || explain "the $label did not end" || bad=1
        expect_code $label 0 || bad=1
        expect_rows $label "$rows" || bad=1
        expect_quiet $label || bad=1
    done
    remark "$(awk 'NR > 1 { print $1 " " $(NF - 1) " Gb/s " $NF " us" }' "$case_dir/client.out" | tail -n 1)"
    return $bad
}

# Prints the table without its figures.
expect_rows() { # LABEL "ROW;ROW"
    {
        echo 'name      bytes   xfers   iters   total       time     Gb/sec    usec/xfer'
        tr ';' '\n' <<<"$2"
    } >"$case_dir/$1.expected"
    sed -E '/^Keepalive: ON$/d; /^  time: [0-9]+$/d' "$case_dir/$1.out" |
        sed -E 's/^(.{10})(.{8})(.{8})(.{8})(.{8}) *[0-9]+\.[0-9]{2}s +[0-9]+\.[0-9]{2} +[0-9]+\.[0-9]{2}$/\1\2\3\4\5/; s/ +$//; s/ +/ /g' >"$case_dir/$1.rows"
    sed -E -i 's/ +/ /g' "$case_dir/$1.expected"
    cmp -s "$case_dir/$1.expected" "$case_dir/$1.rows" || explain "$1.out is not what it must be"
}

stream_series='64_lat 64 1 100k 12m;4k_lat 4k 1 10k 78m;64k_lat 64k 1 1k 125m;1m_lat 1m 1 100 200m;64_bw 64 100k 1 12m;4k_bw 4k 10k 1 78m;64k_bw 64k 1k 1 125m;1m_bw 1m 100 1 200m'

# Prints the rows of -S all: 64 bytes, powers of two and 1.5 times powers of two up to 6 MiB; first latencies, then bandwidths.
stream_all() {
    local sizes=(64) size kind count rows=()
    for ((size = 128; size <= 4194304; size *= 2)); do sizes+=($size $((size + size / 2))); done
    for kind in lat bw; do
        for size in "${sizes[@]}"; do
            count=100
            [ "$size" -ge 1048576 ] || count=1k
            [ "$size" -ge 65536 ] || count=10k
            [ "$size" -ge 1024 ] || count=100k
            rows+=("$(size_text "$size")_$kind $(size_text "$size") $([ $kind = lat ] && echo "1 $count" || echo "$count 1") $(size_text $((size * 2 * ${count/k/000})))")
        done
    done
    local IFS=';'
    echo "${rows[*]}"
}
size_text() { # BYTES : as the tools print it
    local unit=1 name='' tenth
    [ "$1" -lt 1024 ] || unit=1024 name=k
    [ "$1" -lt 1048576 ] || unit=1048576 name=m
    [ "$1" -lt 1073741824 ] || unit=1073741824 name=g
    tenth=$(($1 % unit * 10 / unit))
    [ $(($1 / unit)) -lt 10 ] && [ $tenth != 0 ] || tenth=
    echo "$(($1 / unit))${tenth:+.$tenth}$name"
}

define_socket_cases() { # SERVER CLIENT
    local family size row
    for family in v4 v6 ll; do
        case_add "rstream/$family" "$1" "$2" '100 x 1000 bytes' 60 case_stream rstream $family 'custom 1000 100 1 195k' -C 100 -T v
    done
    for row in '16 16 200 1 6.2k' '64 64 200 1 25k' '1000 1000 200 1 390k' '4096 4k 100 1 800k' '65536 64k 20 1 2.5m' '1048576 1m 3 1 6m'; do
        size=${row%% *} row=${row#* }
        case_add "rstream/-S-$size" "$1" "$2" "$row" 60 case_stream rstream v4 "custom $row" -S "$size" -C "$(cut -d' ' -f2 <<<"$row")" -T v
    done
    case_add rstream/-I "$1" "$2" '300 round trips' 60 case_stream rstream v4 'custom 64 1 300 37k' -S 64 -C 1 -I 300 -T v
    case_add rstream/-T-b "$1" "$2" 'blocking' 60 case_stream rstream v4 'custom 19k 50 2 3.8m' -S 20000 -C 50 -I 2 -T b -T v
    case_add rstream/-T-a "$1" "$2" 'poll' 60 case_stream rstream v4 'custom 19k 50 2 3.8m' -S 20000 -C 50 -I 2 -T a -T v
    case_add rstream/-T-ab "$1" "$2" 'poll, blocking' 60 case_stream rstream v6 'custom 19k 50 2 3.8m' -S 20000 -C 50 -I 2 -T a -T b -T v
    case_add rstream/-T-n "$1" "$2" 'not blocking' 60 case_stream rstream v4 'custom 19k 50 2 3.8m' -S 20000 -C 50 -I 2 -T n -T v
    case_add rstream/-T-r "$1" "$2" 'resolved' 60 case_stream rstream v4 'custom 1000 100 1 195k' -C 100 -T r
    case_add rstream/-B "$1" "$2" 'small buffers' 60 case_stream rstream v4 'custom 19k 50 2 3.8m' -S 20000 -C 50 -I 2 -B 5000 -T v
    case_add riostream/v4 "$1" "$2" '100 x 1000 bytes' 60 case_stream riostream v4 'custom 1000 100 1 195k' -C 100 -T v
    case_add riostream/v6 "$1" "$2" '100 round trips' 60 case_stream riostream v6 'custom 64 1 100 12k' -S 64 -C 1 -I 100 -T v
    case_add riostream/-S-1m "$1" "$2" '3 x 1 MiB' 60 case_stream riostream v4 'custom 1m 3 1 6m' -S 1048576 -C 3 -T v
    case_add riostream/-T-a "$1" "$2" 'poll' 60 case_stream riostream v4 'custom 19k 50 2 3.8m' -S 20000 -C 50 -I 2 -T a
    case_add riostream/-T-ab "$1" "$2" 'poll, blocking' 60 case_stream riostream v4 'custom 19k 50 2 3.8m' -S 20000 -C 50 -I 2 -T a -T b -T v
    case_add riostream/-T-b "$1" "$2" 'blocking' 60 case_stream riostream ll 'custom 19k 50 2 3.8m' -S 20000 -C 50 -I 2 -T b
    case_add rstream/-T-s "$1" "$2" 'sockets of the system' 60 case_stream rstream v4 'custom 1000 100 1 195k' -C 100 -T s -T v
    case_add rstream/-T-f "$1" "$2" 'fork' 60 case_stream rstream v4 'custom 1000 100 1 195k' -C 100 -T f -T v
    case_add rstream/-k "$1" "$2" 'keep-alive' 60 case_stream rstream v4 'custom 1000 100 1 195k' -C 100 -k 1 -T v
    case_add rstream/-p "$1" "$2" 'another port' 60 case_stream rstream v4 'custom 1000 100 1 195k' -C 100 -p 7999 -T v
    case_cannot rcopy/v6 "$1" "$2" 'the server listens on IPv4 only, and the client takes what precedes the first colon for the address'
    case_add rcopy/v4 "$1" "$2" '2 MB' 60 case_rcopy v4 2000000
    if [ "$peer" = c ]; then
        case_add udpong "$1" "$2" 'C cannot: rconnect' 40 case_udpong_of_c
    else
        case_cannot udpong "$1" "$2" 'librdmacm makes address handles without a global route, which RoCE refuses; C with C: udpong/c'
        # One run suffices, since both sides are C, in the guest.
        [ "$1" = linux ] || case_add udpong/c linux linux 'C cannot: rconnect' 40 case_udpong_of_c
    fi
    $full || return 0
    case_add rstream/series "$1" "$2" '8 rows' 900 case_stream rstream v4 "$stream_series"
    case_add rstream/-S-all "$1" "$2" '66 rows' 5400 case_stream rstream v4 "$(stream_all)" -S all
}

# udpong of C against itself, for comparison with host/udpong/...: its client fails before the first packet.
case_udpong_of_c() { # SERVER CLIENT
    local bad=0
    tool_start "$1" server udpong -b "$(side_address "$1" v4)"
    sleep 2
    ! rping_ended server || { explain 'the server ended'; return 1; }
    tool_start "$2" client udpong -s "$(side_address "$1" v4 "$2")" -C 10 -T e
    rping_wait client 30 || explain 'the client did not end' || bad=1
    expect_code client 255 || bad=1
    expect_lines client err '^rconnect: ' || bad=1
    remark "$(head -n 1 "$case_dir/client.err")"
    [ "$(tcpdump -r "$case_dir/capture.pcap" 2>/dev/null | wc -l)" = 0 ] || explain 'packets were sent' || bad=1
    return $bad
}

# Datagrams: clients with the same options are started one after another, and each must print the expected row. Then the server
# is ended.
case_udpong() { # SERVER CLIENT FAMILY CLIENTS "ROW" OPTIONS...
    local server=$1 client=$2 family=$3 clients=$4 row=$5 address label i bad=0
    shift 5
    address=$(side_address "$server" "$family")
    tool_start "$server" server udpong -b "$address"
    wait_until 20 udpong_listens "$server" || { explain 'the server did not bind within 20 s'; return 1; }
    for i in $(seq "$clients"); do
        tool_start "$client" "client$i" udpong -s "$(side_address "$server" "$family" "$client")" "$@"
    done
    for i in $(seq "$clients"); do
        label=client$i
        rping_wait "$label" || explain "$label did not end" || bad=1
        expect_code "$label" 0 || bad=1
        expect_lines "$label" out "^custom +$row +[0-9]+\\.[0-9]{2}s +[0-9]+\\.[0-9]{2} +[0-9]+\\.[0-9]{2}\$" || bad=1
        expect_quiet "$label" || bad=1
    done
    remark "$(awk 'NR > 1 { print $NF " us" }' "$case_dir/client1.out")"
    rping_signal server INT
    rping_wait server 10 || explain 'the server did not end' || bad=1
    # On a busy machine a client that gets no reply to its login in time logs in again.
    [ "$(grep -c '^client login from ' "$case_dir/server.out")" -ge "$clients" ] || explain "the server did not see $clients clients" || bad=1
    return $bad
}
udpong_listens() { ! rping_ended server || return 0; udp_sockets "$1" server | grep -q ':7174$'; } # SIDE

define_host_socket_cases() {
    local family
    for family in lo4 v4 lo6 v6 ll; do
        case_add "host/udpong/$family" near near '1000 round trips' 30 case_udpong $family 1 '1000 +2k +1\.9m' -C 1000 -T e
    done
    for family in v4 v6 ll; do
        case_add "host/udpong/far-$family" far near '1000 round trips' 30 case_udpong $family 1 '1000 +2k +1\.9m' -C 1000 -T e
    done
    case_add host/udpong/far-2000 far near 'longer than the MTU' 30 case_udpong v4 1 '1\.9k +400 +781k' -C 200 -S 2000 -T e
    case_add host/udpong/far-bw far near 'bandwidth' 30 case_udpong v4 1 '1000 +[0-9]+k? +[0-9.]+[km]' -C 20000
    case_add host/udpong/far-ab far near 'poll, blocking' 30 case_udpong v6 1 '64 +600 +37k' -C 300 -S 64 -T e -T a -T b
    case_add host/udpong/clients far near '4 clients' 60 case_udpong v4 4 '100 +600 +58k' -C 300 -S 100 -T e
}

# Copies a file of the given size; the SHA-256 of the copy must be that of the original.
case_rcopy() { # SERVER CLIENT FAMILY BYTES [OPTIONS OF JAVA...]
    local server=$1 client=$2 family=$3 bytes=$4 source target sum came bad=0 options=()
    shift 4
    source=$(rcopy_file "$client" source) target=$(rcopy_file "$server" target)
    on_side "$client" "head -c $bytes /dev/urandom >$source"
    sum=$(on_side "$client" "sha256sum <$source")
    side_is_c "$server" || options=("$@")
    tool_start "$server" server rcopy -p 7427 "${options[@]}"
    wait_until $((2 * start_seconds)) tool_said server '^waiting' || { explain "the server did not listen within $((2 * start_seconds)) s"; return 1; }
    options=()
    side_is_c "$client" || options=("$@")
    tool_start "$client" client rcopy "$source" "$(side_address "$server" "$family" "$client"):$target" "${options[@]}"
    rping_wait client || explain 'the client did not end' || bad=1
    expect_code client 0 || bad=1
    expect_lines client out '^opening\.\.\.transferring\.\.\.closing\.\.\.done$' || bad=1
    expect_quiet client || bad=1
    came=$(on_side "$server" "sha256sum <$target")
    [ "$came" = "$sum" ] || explain 'the file that arrived is another' || bad=1
    ! rping_ended server || explain 'the server ended' || bad=1
    remark "$(tail -n 1 "$case_dir/client.out")"
    on_side "$client" "rm -f $source"
    on_side "$server" "rm -f $target"
    return $bad
}
rcopy_file() { if side_in_guest "$1"; then echo "/tmp/rcopy-$2"; else echo "$case_dir/$2"; fi; } # SIDE NAME
on_side() { if side_in_guest "$1"; then guest_sh "$(side_guest "$1")" "$2"; else sh -c "$2"; fi; } # SIDE COMMAND

# Between processes of one host, and between two hosts that both run Java.
define_host_stream_cases() {
    local family
    for family in lo4 v4 lo6 v6 ll; do
        case_add "host/rstream/$family" near near '100 x 20000 bytes' 30 case_stream rstream $family 'custom 19k 100 1 3.8m' -S 20000 -C 100 -T v
        case_add "host/riostream/$family" near near '100 x 20000 bytes' 30 case_stream riostream $family 'custom 19k 100 1 3.8m' -S 20000 -C 100 -T v
    done
    case_add host/rstream/far-v4 far near '1000 x 64 KiB' 60 case_stream rstream v4 'custom 64k 1k 1 125m' -S 65536 -C 1000 -T b
    case_add host/rcopy/far-v4 far near '20 MB' 60 case_rcopy v4 20000000
    case_add host/rcopy/loss far near '20 MB, 1 % lost' 100 case_rcopy v4 20000000 --fault loss=1%,seed=7
    case_add host/rcopy/2g near near '2 GB' 300 case_rcopy lo4 2000000000
    case_add host/rcopy/2g-loss near near '2 GB, 1 % lost' 300 case_rcopy lo4 2000000000 --fault loss=1%,seed=7
    $full || return 0
    case_add host/rstream/series near near '8 rows' 300 case_stream rstream lo4 "$stream_series"
}
