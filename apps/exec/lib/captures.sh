# Captures made with --pcap and read by tshark; sourced by apps/exec/run.

define_capture_rows() {
    local to=$server_address place="-F -d rdma4j_eth0 -n 100"
    row_add pcap/rping 'C->C' quick 40 captured 'RC Send Only|RC RDMA Read Request|RC RDMA Write Only' cm "rping -s -a $to -C 5 -V" "rping -c -a $to -C 5 -V"
    row_add pcap/ib_send_bw-R 'C->C' quick 40 captured 'RC Send First|RC Send Last|RC Acknowledge' cm "ib_send_bw $place -R" "ib_send_bw $place -R $to"
    row_add pcap/ib_write_bw 'C->C' full 40 captured 'RC RDMA Write First|RC Acknowledge' tcp:18515 "ib_write_bw $place -x $gid_index" \
        "ib_write_bw $place -x $gid_index $to"
    row_add pcap/two-processes 'C->C' quick 40 capture_of_each
    row_add pcap/one-file-for-two 'C->C' quick 40 capture_of_the_first
}

# Each side writes its own capture, and tshark must understand it. With -R, a client of perftest
# connects twice, on a busy machine sometimes before the server listens again: then both run once
# more.
captured() { # OPCODES READY "SERVER COMMAND" "CLIENT COMMAND"
    local opcodes=$1 ready=$2 label
    # shellcheck disable=SC2086
    start server server "$limit" "$launcher" exec --no-warm-up --pcap "$row_dir/server.pcapng" -- $3
    pair_ready "$ready" || return
    # shellcheck disable=SC2086
    start client client "$limit" "$launcher" exec --no-warm-up --pcap "$row_dir/client.pcapng" -- $4
    finish client
    if [ $status -ne 0 ] && ${again:-true} && grep -q RDMA_CM_EVENT_REJECTED "$row_dir/client.err"; then
        end server
        again=false captured "$@"
        return
    fi
    [ $status -eq 0 ] || wrong "the client ended with $status" || return
    finish server
    [ $status -eq 0 ] || wrong "the server ended with $status" || return
    for label in client server; do
        no_complaint $label || return
    done
    [ "$ready" != cm ] || opcodes+='|CM: ConnectRequest|CM: ConnectReply|CM: ReadyToUse|CM: DisconnectRequest'
    dissected "$row_dir/server.pcapng" "$opcodes" && dissected "$row_dir/client.pcapng" "$opcodes"
}

# With -R, perftest starts and ends with an empty SEND. tshark takes that for RPC over RDMA, and
# calls it malformed.
read_capture() { tshark --disable-protocol rpcordma -r "$@"; } # FILE OPTIONS

# Expects that tshark reads a capture, recognizes every packet as well-formed RoCEv2, and finds each
# of the opcodes.
dissected() { # FILE OPCODES
    local opcode name=${1##*/} all=$row_dir/packets
    read_capture "$1" >"$all" 2>"$row_dir/tshark.err" || wrong "tshark cannot read $name: $(tail -n 1 "$row_dir/tshark.err")" || return
    [ -s "$all" ] || wrong "$name has no packets" || return
    [ "$(read_capture "$1" -Y '_ws.malformed || _ws.expert.severity == error || !infiniband' 2>/dev/null | wc -l)" -eq 0 ] ||
        wrong "tshark finds malformed packets in $name" || return
    while IFS= read -r opcode; do
        grep -qF -- "$opcode" "$all" || wrong "tshark names no '$opcode' in $name" || return
    done < <(tr '|' '\n' <<<"$2")
    remark "$name: $(wc -l <"$all") packets"
}

# %p in the name is the process ID: the children of one command have a capture each.
capture_of_each() {
    local files
    # shellcheck disable=SC2016
    start program server "$limit" "$launcher" exec --pcap "$row_dir/ping-%p.pcapng" -- \
        sh -c 'rping -s -a "$1" -C 5 -V & sleep 2; rping -c -a "$1" -C 5 -V && wait $!' sh "$server_address"
    finish program
    [ $status -eq 0 ] || wrong "it ended with $status" || return
    no_complaint program || return
    files=("$row_dir"/ping-*.pcapng)
    [ ${#files[@]} -eq 2 ] || wrong "there are ${#files[@]} captures" || return
    dissected "${files[0]}" 'CM: ConnectRequest|CM: ReadyToUse' && dissected "${files[1]}" 'CM: ConnectRequest|CM: ReadyToUse'
}

# Without %p, the second process fails with one sentence, and the capture of the first stays intact.
capture_of_the_first() {
    start server server "$limit" "$launcher" exec --pcap "$row_dir/ping.pcapng" -- rping -s -a "$server_address" -C 5 -V
    pair_ready cm || return
    start program client "$limit" "$launcher" exec --pcap "$row_dir/ping.pcapng" -- rping -c -a "$server_address" -C 5 -V
    finish program
    [ $status -ne 0 ] || wrong 'the second process ended with 0' || return
    [ "$(grep -c '^rdma4j exec: .*another capture is being written to it' "$row_dir/program.err")" -eq 1 ] || wrong 'it does not report the reason' || return
    start client client "$limit" "$launcher" exec -- rping -c -a "$server_address" -C 5 -V
    finish client
    finish server
    [ $status -eq 0 ] || wrong "the server ended with $status" || return
    dissected "$row_dir/ping.pcapng" 'CM: ConnectRequest|CM: ReadyToUse'
}
