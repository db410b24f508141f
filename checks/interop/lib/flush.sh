# FLUSH and ATOMIC WRITE: c/flush.c against java/Flush.java, and the latter against itself. Sourced by other scripts. checks/interop/setup
# --newer compiles the C program; it needs Linux 6.2 and rdma-core 45 or later.

flush_build() { # after peer_build
    "$(dirname "$java")/javac" -Xlint:all -Werror --module-path "$module_path" --add-modules io.rdma4j.cm -d "$work_dir/classes" \
        "$interop_dir/java/Flush.java" || die "cannot compile $interop_dir/java/Flush.java"
}

flush_start() { # SIDE LABEL ARGUMENTS...
    local side=$1 label=$2
    shift 2
    if side_is_c "$side"; then
        guest_command "$side" "$label" rdma4j-flush "$@"
        return
    fi
    java_start "$side" "$label" "$java" -XX:+UseSerialGC -XX:-UsePerfData -Djava.net.preferIPv6Addresses=system \
        --enable-native-access=io.rdma4j.link --module-path "$module_path" --add-modules io.rdma4j.cm,io.rdma4j.soft \
        -cp "$work_dir/classes" Flush "$@"
}

# Both sides end with 0 and print exactly the right lines. With "denied" the last FLUSH fails with IBV_WC_REM_ACCESS_ERR.
case_flush() { # SERVER CLIENT FAMILY [denied]
    local server=$1 client=$2 family=$3 denied=${4:-} label bad=0
    flush_start "$server" server serve "$(side_address "$server" "$family")" $port
    wait_until $start_seconds tool_said server listening || { explain "the server did not listen within $start_seconds s"; return 1; }
    # shellcheck disable=SC2086
    flush_start "$client" client connect "$(side_address "$server" "$family" "$client")" $port $denied
    for label in client server; do
        rping_wait $label || explain "the $label did not end" || bad=1
        expect_code $label 0 || bad=1
        expect_text $label err '' || bad=1
    done
    expect_text server out "$(printf '%s\n' listening connected 'value 0x0102030405060708' same end)" || bad=1
    expect_text client out "$(flush_client_lines "$denied")" || bad=1
    return $bad
}

flush_client_lines() { # [denied]
    printf '%s\n' connected 'write 0 opcode 1 bytes 3000' 'flush-range 0 opcode 8 bytes 3000' 'atomic-write 0 opcode 9 bytes 8' \
        'flush-region 0 opcode 8 bytes 0' 'read 0 opcode 2 bytes 3008' same
    [ -z "$1" ] || echo 'flush-persistent 10'
    echo end
}

define_flush_cases() { # SERVER CLIENT
    if [ -z "$guest_layer" ]; then
        case_cannot flush "$1" "$2" 'Linux 6.1 has no FLUSH: --kernel 6.12'
        return
    fi
    case_add flush/v4 "$1" "$2" 'flushed' 30 case_flush v4
    case_add flush/v6 "$1" "$2" 'flushed' 30 case_flush v6
    case_add flush/denied "$1" "$2" 'flushed, denied' 30 case_flush v4 denied
}

define_host_flush_cases() {
    case_add host/flush/lo4 near near 'flushed' 30 case_flush lo4
    case_add host/flush/far-v6 far near 'flushed' 30 case_flush v6
    case_add host/flush/denied far near 'flushed, denied' 30 case_flush v4 denied
}
