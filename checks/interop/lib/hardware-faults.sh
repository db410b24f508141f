# Faults of the guest's devices and of the programs that use them; sourced by checks/interop/hardware.
#
# DeviceFaults, a program in checks/interop/java, is both ends of the connections of some cases. After each case the device has no objects
# of a program: nothing is left of a process that was killed.

# The class path and the arguments of Java for the programs of checks/interop/java, which faults_build sets.
fault_java=()
faults_build() {
    local module_path
    module_path=$("$launcher" --module-path) || die "$launcher does not say where its modules are"
    "$(dirname "$java")/javac" -Xlint:all -Werror --module-path "$module_path" --add-modules io.rdma4j.cm -d "$work_dir/classes" \
        "$interop_dir/java/DeviceFaults.java" "$interop_dir/java/Peer.java" || die "cannot compile $interop_dir/java"
    fault_java=(--enable-native-access=io.rdma4j.link,io.rdma4j.hardware,io.rdma4j.verbs --module-path "$module_path"
        --add-modules io.rdma4j.cm,io.rdma4j.soft,io.rdma4j.hardware -cp "$work_dir/classes")
}

# The objects that programs have on the device of the case: domains, queues, connections, memory.
device_objects() { guest_sh guest "rdma resource show $guest_device | sed 's/^[0-9]*: //'"; }
device_is_as_before() { [ "$(device_objects)" = "$1" ]; }

# Runs a case on a device and requires that nothing is left there.
case_fault() { # SERVER CLIENT DEVICE FUNCTION ARGUMENTS...
    local guest_device=$3 before bad=0
    before=$(device_objects)
    "$4" "$1" "$2" "${@:5}" || bad=1
    wait_until 20 device_is_as_before "$before" ||
        { explain "left on the device: $(device_objects); before: $before"; bad=1; }
    return $bad
}

# Runs a scenario of DeviceFaults, which must end with 0.
fault_program() { # SCENARIO ARGUMENTS...
    local scenario=$1 bad=0
    shift
    guest_java faults "${fault_java[@]}" DeviceFaults "$scenario" "$(side_address inside v4)" "$@" || bad=1
    expect_code faults 0 || bad=1
    [ $bad = 0 ] || explain "$(grep '^WRONG' "$case_dir/faults.out")"
    expect_quiet faults || bad=1
    remark "$(grep '^DESCRIPTORS' "$case_dir/faults.out")"
    return $bad
}

case_many_connections() { # SERVER CLIENT COUNT
    fault_program connections "$3" || return 1
    remark "$(sed -n '2s/CONNECTIONS //p' "$case_dir/faults.out")"
}

case_closed_arena() { # SERVER CLIENT
    fault_program arena || return 1
    expect_lines faults out '^ARENA refused: Session is acquired by' || return 1
    remark "$(grep '^WRITES' "$case_dir/faults.out" | grep -o '[A-Z_]*_ERROR\|after an event' | head -n 1)"
}

# The device is deleted while a program writes. The kernel deletes it when the program has closed it.
case_device_deleted() { # SERVER CLIENT
    local bad=0
    fault_program command "rdma link delete $guest_device" || bad=1
    expect_lines faults out '^CLOSED' || bad=1
    remark "$(grep '^WRITES' "$case_dir/faults.out" | grep -o '[A-Z_]*_ERROR\|after an event' | head -n 1)"
    wait_until 20 device_is_absent || explain "the kernel still has $guest_device" || bad=1
    device_create || bad=1
    return $bad
}

# The device of a server and its client is deleted: Java's tool says so, as C's does, and ends. C's server then waits indefinitely.
case_device_deleted_under_tools() { # SERVER CLIENT
    local server=$1 client=$2 ours=server theirs=client bad=0
    [ "$server" = inside ] || { ours=client; theirs=server; }
    rping_serve "$server" server $port -a "$(side_address "$server" v4)" || return 1
    rping_start "$client" client -c -a "$(side_address "$server" v4 "$client")" -p $port
    wait_until 60 connections_are 2 || explain 'there was no connection' || bad=1
    guest_sh guest "rdma link delete $guest_device >/dev/null 2>&1 &"
    rping_wait $ours 60 || explain "$ours did not end" || bad=1
    # As C's, it ends with 0 if it heard of the peer's disconnect before.
    if grep -q 'DISCONNECT EVENT' "$case_dir/$ours.err"; then expect_code_or $ours 0 255 || bad=1; else expect_code $ours 255 || bad=1; fi
    expect_lines $ours err '^cma detected device removal!!!!$' || bad=1
    rping_wait $theirs 5 || rping_signal $theirs KILL
    rping_wait $theirs 10 || explain "$theirs did not end when it was killed" || bad=1
    wait_until 20 device_is_absent || explain "the kernel still has $guest_device" || bad=1
    device_create || bad=1
    return $bad
}

device_is_absent() { ! guest_sh guest "rdma link show $guest_device/1" >/dev/null 2>&1; }
device_create() {
    local type=rxe interface=eth0
    [ "$guest_device" = rxe0 ] || { type=siw; interface=iwarp0; }
    guest_sh guest "rdma link add $guest_device type $type netdev $interface" || explain "the guest cannot create $guest_device again"
}

# connections_are N : whether programs have so many connections on the device. siw reports the state RESET of each queue pair.
connections_are() {
    [ "$(guest_sh guest "rdma resource show cm_id link $guest_device/1 | grep -c 'lqpn [0-9]* .*state CONNECT '")" = "$1" ]
}

# One side is killed while it pings. The kernel disconnects for it, and the other side ends.
case_killed_on_device() { # SERVER CLIENT VICTIM(server|client)
    local server=$1 client=$2 victim=$3 other=client bad=0
    [ "$victim" = server ] || other=server
    rping_serve "$server" server $port -a "$(side_address "$server" v4)" || return 1
    rping_start "$client" client -c -a "$(side_address "$server" v4 "$client")" -p $port
    wait_until 60 connections_are 2 || explain 'there was no connection' || bad=1
    sleep 1
    rping_signal $victim KILL
    rping_wait $other 60 || explain "$other did not end after its peer was killed" || bad=1
    expect_code_or $other 0 255 || bad=1
    expect_lines $other err "^$other DISCONNECT EVENT\.\.\.\$" || bad=1
    return $bad
}

# unprivileged COMMAND... : prints a command that runs another one as a user without rights.
unprivileged() { printf '%q ' setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$@"; }

# The limit of locked memory is too low for the buffers of a client.
case_locked_memory() { # SERVER CLIENT
    local server=$1 client=$2 bad=0
    rping_serve "$server" server $port -a "$(side_address "$server" v4)" -S 65535 || return 1
    # shellcheck disable=SC2046 # words
    guest_command "$client" client env "${inside_environment[@]}" $(unprivileged prlimit --memlock=65536:65536) \
        "$launcher" rping -c -a "$(side_address "$server" v4 "$client")" -p $port -S 65535 -C 1
    rping_wait client || explain 'the client did not end' || bad=1
    expect_code client 12 || bad=1 # as C's
    expect_lines client err 'ENOMEM.*|.*locks memory, of which this process may have 65536' || bad=1
    expect_lines client err 'ulimit -l' || bad=1
    rping_signal server INT
    rping_wait server 30 || explain 'the server did not end' || bad=1
    return $bad
}

# A user who may not open the files of the devices.
case_no_permission() { # SERVER CLIENT
    local bad=0
    guest_sh guest 'chmod 600 /dev/infiniband/*' || explain 'the guest cannot change the permissions' || return 1
    # shellcheck disable=SC2046 # words
    guest_command inside server env "${inside_environment[@]}" RDMA4J_DEVICE=$guest_device $(unprivileged) "$launcher" \
        rping -s -a "$(side_address inside v4)"
    rping_wait server || explain 'the server did not end' || bad=1
    # shellcheck disable=SC2046 # words
    guest_command inside doctor env "${inside_environment[@]}" $(unprivileged) "$launcher" doctor
    rping_wait doctor || explain 'doctor did not end' || bad=1
    guest_sh guest 'chmod 666 /dev/infiniband/*'
    expect_code server 255 || bad=1
    expect_lines server err 'permission|Permission' || bad=1
    expect_lines doctor out "$guest_device.*(permission|Permission)" || bad=1
    return $bad
}

# The guest's link is down for 20 s while messages go to the software device of the host and back. The host's side loses its
# peer. rxe cannot send on an interface that is down, and fails at once; it is disconnected when the link is up again.
case_link_down() { # SERVER(host) CLIENT(inside)
    local bad=0
    java_start host server "$java" -XX:+UseSerialGC -XX:-UsePerfData -Djava.net.preferIPv6Addresses=system "${fault_java[@]}" Peer \
        serve "$(side_address host v4)" $port ack=14 patient
    peer_await server LISTENING 30 || return 1
    guest_command inside client env "${inside_environment[@]}" "$java" -XX:+UseSerialGC -XX:-UsePerfData \
        "${inside_java_options[@]}" -Djava.net.preferIPv6Addresses=system "${fault_java[@]}" Peer \
        connect "$(side_address host v4)" $port ack=14
    peer_await server CONNECTED 90 || return 1
    sleep 2
    # The command channel has this link, too: the guest raises it by itself, with the addresses that the kernel has removed.
    guest_sh guest "(sleep 1; ip link set eth0 down; sleep 20; ip link set eth0 up
        ip -6 addr add $guest_ip6/64 dev eth0 nodad) >/dev/null 2>&1 &"
    rping_wait client 180 || explain 'the client did not end' || bad=1
    rping_wait server 60 || explain 'the server did not end' || bad=1
    expect_code server 3 || bad=1
    expect_lines server out 'LOST lost=RETRY_EXCEEDED_ERROR' || bad=1
    expect_code client 1 || bad=1 # for Peer, another status than that of a lost peer is wrong
    expect_lines client out 'completion of a send: LOCAL_QUEUE_PAIR_OPERATION_ERROR' || bad=1
    expect_lines client out ' flushed-receives=32 ' || bad=1
    expect_lines client out 'DISCONNECTED status=0' || bad=1
    remark "the host lost its peer after $(peer_field server after-ms) ms"
    return $bad
}

# fault_case DEVICE NAME SERVER CLIENT EXPECTED SECONDS FUNCTION ARGUMENTS...
fault_case() { case_add "${1%0}/fault/$2" "$3" "$4" "$5" "$6" case_fault "$1" "${@:7}"; }

define_fault_cases() {
    local device pair victim
    for device in rxe0 siw0; do
        fault_case $device connections inside inside '1000 opened and closed' 900 case_many_connections 1000
        fault_case $device arena inside inside 'stays open until its region is closed' 180 case_closed_arena
        fault_case $device deleted inside inside 'every wait ends' 180 case_device_deleted
        for pair in 'inside linux' 'linux inside'; do
            # shellcheck disable=SC2086
            fault_case $device deleted/rping $pair 'device removal' 120 case_device_deleted_under_tools
            for victim in server client; do
                # shellcheck disable=SC2086
                fault_case $device "kill-9/$victim" $pair 'the other side ends' 120 case_killed_on_device $victim
            done
        done
        fault_case $device locked-memory linux inside 'ENOMEM with the limit' 120 case_locked_memory
        fault_case $device no-permission inside inside 'explained' 120 case_no_permission
    done
    fault_case rxe0 link-down host inside 'both sides fail, disconnected' 240 case_link_down
}
