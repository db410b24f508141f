# Programs that call the library from other stacks: QEMU migrates in a coroutine, and the threads of
# dapltest have small stacks; sourced by apps/exec/run.

define_foreign_rows() {
    row_add QEMU/migration 'C->C' full 120 migrates
    row_add QEMU/migration-rdma-pin-all 'C->C' full 120 migrates rdma-pin-all
    row_add dapltest/transactions 'C->C' full 60 dapltest -T T -t 2 -w 2 -i 200 client SR 256 server SR 256
    row_add dapltest/RDMA 'C->C' full 60 dapltest -T T -t 1 -w 1 -i 200 client RW 4096 2 server RR 25600 client SR 256 server SR 256
    row_add dapltest/performance 'C->C' full 60 dapltest -T P -i 1000 RW 65536
    row_add dapltest/limits 'C->C' full 60 limits
}

install_foreign_programs() {
    local missing=()
    type -P qemu-system-x86_64 >/dev/null || missing+=(qemu-system-x86)
    type -P dapltest >/dev/null || missing+=(dapl2-utils)
    [ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"
}

guest_mebibytes=128

start_guest() { # LABEL HOST OPTIONS...
    local label=$1 host=$2
    shift 2
    start "$label" "$host" "$limit" "$launcher" exec -- qemu-system-x86_64 -accel tcg -m $guest_mebibytes -machine pc -nodefaults -display none \
        -S -qmp "unix:$row_dir/$label.socket,server=on,wait=off" "$@"
}

monitor() { # LABEL COMMAND [ARGUMENTS]
    python3 "$exec_dir/lib/qmp.py" "$row_dir/$1.socket" "${@:2}" 2>>"$row_dir/$1.monitor"
}

save_memory() { # LABEL
    monitor "$1" pmemsave "{\"val\": 0, \"size\": $((guest_mebibytes << 20)), \"filename\": \"$row_dir/$1.memory\"}" >/dev/null
}

migration_has_ended() { monitor client query-migrate | grep -qE '"status": "(completed|failed)"'; }

# Migrates a guest with random bytes in its memory to the other host, and compares the memory.
migrates() { # [CAPABILITY]
    local label
    head -c $((guest_mebibytes / 2 << 20)) /dev/urandom >"$row_dir/random"
    chmod a+r "$row_dir/random"
    start_guest server server -incoming "rdma:$server_address:4444"
    start_guest client client -device "loader,file=$row_dir/random,addr=0x1000000,force-raw=on"
    for label in server client; do
        wait_until 30 monitor $label query-status || wrong "the $label has no monitor" || return
        [ $# -eq 0 ] || monitor $label migrate-set-capabilities "{\"capabilities\": [{\"capability\": \"$1\", \"state\": true}]}" >/dev/null ||
            wrong "the $label lacks $1" || return
    done
    save_memory client || wrong 'the client does not save its memory' || return
    monitor client migrate "{\"uri\": \"rdma:$server_address:4444\"}" >/dev/null || wrong 'the migration does not start' || return
    wait_until 60 migration_has_ended || wrong 'the migration does not end' || return
    monitor client query-migrate >"$row_dir/migration"
    grep -q '"status": "completed"' "$row_dir/migration" || wrong 'the migration fails' || return
    save_memory server || wrong 'the server does not save its memory' || return
    cmp -s "$row_dir/client.memory" "$row_dir/server.memory" || wrong 'the memory differs' || return
    remark "$(sed -n 's/.*"total-time": \([0-9]*\).*/\1 ms/p' "$row_dir/migration")"
    for label in client server; do
        monitor $label quit >/dev/null
        finish $label
        [ $status -eq 0 ] || wrong "the $label ended with $status" || return
        no_complaint $label || return
    done
}

# Sets words to a dapltest command that uses the DAT provider over librdmacm, on eth0.
dat_command() { # OPTIONS...
    printf 'rdma4j u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 "eth0 0" ""\n' >"$row_dir/dat.conf"
    words=(env "DAT_OVERRIDE=$row_dir/dat.conf" "$launcher" exec -- dapltest "$@")
}

# The server runs until a client tells it to quit.
dapltest() { # -T KIND OPTIONS...
    local words
    dat_command -T S -D rdma4j
    start server server "$limit" "${words[@]}"
    pair_ready cm || return
    dat_command "$1" "$2" -s "$server_address" -D rdma4j "${@:3}"
    start client client "$limit" "${words[@]}"
    finish client
    [ $status -eq 0 ] || wrong "the client ended with $status" || return
    no_complaint client || return
    ! grep -qiE 'error|fail|mismatch' "$row_dir"/client.{out,err} || wrong 'the client reports an error' || return
    dat_command -T Q -s "$server_address" -D rdma4j
    start end client "$limit" "${words[@]}"
    finish end
    finish server
    [ $status -eq 0 ] || wrong "the server ended with $status" || return
    no_complaint server
}

# Creates up to 100 objects of each kind.
limits() {
    local words
    dat_command -T L -D rdma4j -w 1 -m 100 limit_ia limit_pz limit_evd limit_ep limit_lmr
    start program server "$limit" "${words[@]}"
    finish program
    [ $status -eq 0 ] || wrong "it ended with $status" || return
    no_complaint program
}
