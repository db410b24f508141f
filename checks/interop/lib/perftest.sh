# The eight tools of perftest, C against Java; sourced by other scripts.

# One test with the same options on both sides. Both must exit with 0, and the tables must have the expected rows.
case_perftest() { # SERVER CLIENT TOOL "SIZES" COUNT OPTIONS...
    local server=$1 client=$2 tool=$3 sizes=$4 count=$5 bad=0 label address
    shift 5
    address=$(side_address "$server" v4)
    if [[ " $* " == *' -R '* || " $* " == *' -z '* ]]; then
        tool_start "$server" server "$tool" -F --source_ip="$address" "$@"
        wait_until $start_seconds listens_on "$server" server "$pingpong_port" "$address" ||
            { explain "the server did not listen within $start_seconds s"; return 1; }
    else
        tool_start "$server" server "$tool" -F $(perftest_place "$server") "$@"
        wait_until $start_seconds pingpong_listens "$server" server || { explain "the server did not listen within $start_seconds s"; return 1; }
        set -- $(perftest_place "$client") "$@"
    fi
    tool_start "$client" client "$tool" -F "$@" "$address"
    for label in client server; do
        rping_wait $label || explain "the $label did not end" || bad=1
        expect_code $label 0 || bad=1
        perftest_complains $label || bad=1
        [ "$label/$tool" = server/ib_read_lat ] || [ "$label/$tool" = server/ib_atomic_lat ] ||
            perftest_rows $label "$tool" "$sizes" "$count" "$@" || bad=1
    done
    [ "$(perftest_place_of client local)" = "$(perftest_place_of server remote)" ] &&
        [ "$(perftest_place_of server local)" = "$(perftest_place_of client remote)" ] ||
        explain 'the two sides do not agree where they are' || bad=1
    remark "$(perftest_figure client)"
    return $bad
}

# The same with a warm-up of Java's side, which its client reports.
case_perftest_warm() { # SERVER CLIENT TOOL "SIZES" COUNT OPTIONS...
    local warm_up=true bad=0
    case_perftest "$@" || bad=1
    side_is_c "$2" || expect_lines client err '^ib_[a-z_]+: warmed up for [0-9.]+ s ' || bad=1
    return $bad
}

# The options for an exchange over TCP: a tool on the kernel's device selects the GID of the IPv4 address, Java's on the software device that of the address given.
perftest_place() {
    if [ "$1" = exec ]; then
        echo "-d $exec_device -x ${exec_gid_index[v4]}"
    elif side_uses_kernel "$1"; then
        echo "-d $guest_device"
    fi
}

# Checks that standard error is empty, except for C's warnings about the clock of an emulated processor.
perftest_complains() { # LABEL
    ! grep -v -e ': warmed up for ' -e CPU -e 'Correlation coefficient' -e 'Device not recognized to implement inline' -e 'Max msg size in UD' -e 'Changing to this MTU' "$case_dir/$1.err" | grep -q . || explain "the $1 complains"
}

# With -a in one direction, the server of a bandwidth tool shows only the last size; with SEND it shows each size.
perftest_rows() { # LABEL TOOL "SIZES" COUNT OPTIONS...
    local label=$1 tool=$2 sizes=$3 count=$4 wanted found options
    shift 4
    options=" $* "
    case $label/$tool in
        server/ib_send_bw) ;;
        server/*_bw) [[ $options == *' -b '* ]] || sizes=${sizes##* } ;;
    esac
    wanted=$(for size in $sizes; do echo "$size $count"; done)
    # C prints "inf" if it could not measure the clock of an emulated processor, and has then warned about it.
    found=$(awk -v count="$count" '/^ [0-9]+ +[0-9]+ +([0-9]|inf)/ { print $1, (count == "any" && $2 > 0 ? count : $2) }' "$case_dir/$label.out")
    [ "$found" = "$wanted" ] || explain "the $label has not the rows '$wanted' but '$found'"
}

perftest_place_of() { sed -n "s/^ $2 address: \(LID [0-9a-fx]* QPN [0-9a-fx]* PSN [0-9a-fx]*\).*/\1/p" "$case_dir/$1.out"; } # LABEL local|remote
perftest_figure() { awk '/^ [0-9]+ +[0-9]+ +[0-9]/ { row = $0 } END { $0 = row; print (NF > 6 ? "typical " $5 " us" : NF > 4 ? $4 " MB/s" : "average " $3 " us") }' "$case_dir/$1.out"; }

define_perftest_cases() { # SERVER CLIENT
    local tool all='2 4 8 16 32 64 128 256 512 1024 2048 4096 8192 16384 32768 65536 131072 262144 524288 1048576 2097152 4194304 8388608'
    for tool in send write read; do
        case_add "perftest/ib_${tool}_lat" "$1" "$2" '100 x 2 bytes' 60 case_perftest ib_${tool}_lat 2 100 -R -n 100
        case_add "perftest/ib_${tool}_lat/64K" "$1" "$2" '20 x 64 KiB' 60 case_perftest ib_${tool}_lat 65536 20 -R -n 20 -s 65536
        case_add "perftest/ib_${tool}_bw" "$1" "$2" '300 x 2 bytes' 60 case_perftest ib_${tool}_bw 2 300 -R -n 300 -s 2
        case_add "perftest/ib_${tool}_bw/64K" "$1" "$2" '100 x 64 KiB' 60 case_perftest ib_${tool}_bw 65536 100 -R -n 100
        case_add "perftest/ib_${tool}_bw/-q-2" "$1" "$2" '2 x 100 x 4 KiB' 60 case_perftest ib_${tool}_bw 4096 200 -R -n 100 -s 4096 -q 2
        case_add "perftest/ib_${tool}_bw/-b" "$1" "$2" '100 x 4 KiB both ways' 60 case_perftest ib_${tool}_bw 4096 100 -R -n 100 -s 4096 -b
        case_add "perftest/ib_${tool}_lat/-D-1" "$1" "$2" 'one second' 60 case_perftest ib_${tool}_lat 2 any -R -D 1
        case_add "perftest/ib_${tool}_lat/tcp" "$1" "$2" '50 x 2 bytes' 60 case_perftest ib_${tool}_lat 2 50 -n 50
        case_add "perftest/ib_${tool}_bw/tcp" "$1" "$2" '100 x 4 KiB' 60 case_perftest ib_${tool}_bw 4096 100 -n 100 -s 4096
        case_add "perftest/ib_${tool}_bw/-z" "$1" "$2" '100 x 4 KiB' 60 case_perftest ib_${tool}_bw 4096 100 -z -n 100 -s 4096
    done
    case_add perftest/ib_write_lat/warm-up "$1" "$2" '100 x 2 bytes' 60 case_perftest_warm ib_write_lat 2 100 -R -n 100
    case_add perftest/ib_send_lat/-a-UD "$1" "$2" '20 x 2 to 1024 bytes' 60 case_perftest ib_send_lat '2 4 8 16 32 64 128 256 512 1024' 20 -R -a -n 20 -c UD
    case_add perftest/ib_atomic_lat "$1" "$2" '100 fetch-and-add' 60 case_perftest ib_atomic_lat 8 100 -R -n 100
    case_add perftest/ib_atomic_lat/swap "$1" "$2" '50 compare-and-swap' 60 case_perftest ib_atomic_lat 8 50 -R -n 50 -A CMP_AND_SWAP
    case_add perftest/ib_atomic_bw "$1" "$2" '300 fetch-and-add' 60 case_perftest ib_atomic_bw 8 300 -R -n 300
    case_add perftest/ib_atomic_bw/-q-2 "$1" "$2" '2 x 100' 60 case_perftest ib_atomic_bw 8 200 -R -n 100 -q 2
    case_add perftest/ib_write_bw/-l "$1" "$2" '200 in lists of 20' 60 case_perftest ib_write_bw 64 200 -R -n 200 -s 64 -l 20
    case_add perftest/ib_write_bw/-Q "$1" "$2" '205, one completion for 10' 60 case_perftest ib_write_bw 64 205 -R -n 205 -s 64 -Q 10
    for tool in lat bw; do
        case_add "perftest/ib_send_$tool/UD" "$1" "$2" '100 datagrams of 1 KiB' 60 case_perftest ib_send_$tool 1024 100 -R -n 100 -s 1024 -c UD
        case_add "perftest/ib_send_$tool/UC" "$1" "$2" '100 x 1 KiB' 60 case_perftest ib_send_$tool 1024 100 -n 100 -s 1024 -c UC
        case_add "perftest/ib_write_$tool/UC" "$1" "$2" '100 x 1 KiB' 60 case_perftest ib_write_$tool 1024 100 -n 100 -s 1024 -c UC
        case_add "perftest/ib_send_$tool/-e" "$1" "$2" '50 x 1 KiB, by events' 60 case_perftest ib_send_$tool 1024 50 -R -n 50 -s 1024 -e
    done
    case_add perftest/ib_send_bw/UD-b "$1" "$2" '100 datagrams both ways' 60 case_perftest ib_send_bw 1024 100 -R -n 100 -s 1024 -c UD -b
    for tool in send write read; do
        case_add "perftest/ib_${tool}_bw/-D-3" "$1" "$2" 'three seconds' 60 case_perftest ib_${tool}_bw 4096 any -R -D 3 -f 1 -s 4096
    done
    $full || return 0 # an emulated processor takes its time for these
    for tool in send_lat write_bw; do
        case_add "perftest/ib_$tool/-a" "$1" "$2" '5 x 2 bytes to 8 MiB' 100 case_perftest ib_$tool "$all" 5 -R -a -n 5
    done
}
