# Checks the test environment without Java; sourced by other scripts.

check() { # NAME EXPECTED FUNCTION
    local start result=ok
    start=$(now_ms)
    check_detail=
    "$3" || { result=FAILED; self_test_failed=1; }
    row "$1" self-test "$2" $result "$(seconds $(($(now_ms) - start)))" "$check_detail"
}

guest_pings_itself() {
    local lines
    lines=$(guest_sh guest "timeout 20 rping -s -a $guest_ip4 & until rdma resource show cm_id | grep -q LISTEN; do sleep 0.1; done
        timeout 20 rping -c -a $guest_ip4 -C 5 -v -V && wait" 2>&1 | grep -a '^ping data: ')
    [ "$lines" = "$(ping_lines 'ping data: ' 64 5)" ] || { check_detail="printed: $lines"; false; }
}

# Packets of the guest reach the tap and can be decoded there.
request_from_guest() {
    capture_start "$work_dir/self-test.pcap"
    guest_sh guest "timeout 2 rping -c -a $host_ip4" >/dev/null 2>&1
    capture_stop
    check_detail=$(tshark -r "$work_dir/self-test.pcap" 2>/dev/null | grep -a 'ConnectRequest' | head -1)
    [ -n "$check_detail" ]
}

guest_datagrams() { guest_sh guest "awk '/^Udp: [0-9]/ { print \$2 }' /proc/net/snmp"; }
send_datagrams() { # COUNT : to the port that rxe owns in the guest
    in_netns bash -c "exec 3<>/dev/udp/$guest_ip4/4791; for i in \$(seq $1); do printf 'not RoCE' >&3; done"
    sleep 0.5
}

# rxe's socket in the guest receives these packets, and drops them because they are not RoCE packets.
datagram_to_guest() {
    local before after
    before=$(guest_datagrams)
    send_datagrams 20
    after=$(guest_datagrams)
    check_detail="$((after - before)) of 20 arrived"
    [ $((after - before)) -eq 20 ]
}

loses_half() { # SENT COMMAND-TO-END...
    local before after dropped sent=$1
    shift
    before=$(guest_datagrams)
    send_datagrams "$sent"
    after=$(guest_datagrams)
    dropped=$("$@")
    check_detail="$((after - before)) of $sent arrived, $dropped dropped"
    [ $((after - before + dropped)) -eq "$sent" ] && [ "$dropped" -gt $((sent / 4)) ] && [ "$dropped" -lt $((sent * 3 / 4)) ]
}
netem_loses() { netem_on 'loss 50%' && loses_half 200 netem_off; }
nft_loses() { nft_loss_on 500 && loses_half 200 nft_loss_off; }
faults_gone() { datagram_to_guest; }

self_test() {
    self_test_failed=0
    row check '' expected result seconds
    check 'C against C in the guest' '5 pings' guest_pings_itself
    check 'guest to tap' 'REQ seen and decoded' request_from_guest
    check 'tap to guest' '20 datagrams' datagram_to_guest
    check 'netem in the guest' 'half is lost' netem_loses
    check 'nft on the tap' 'half is lost' nft_loses
    check 'faults taken away' '20 datagrams' faults_gone
    return $self_test_failed
}
