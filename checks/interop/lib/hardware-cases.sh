# Cases for the devices of the guest's kernel, rxe0 (RoCEv2) and siw0 (iWARP); sourced by checks/interop/hardware.
#
# The side "inside" is Java in the guest, on the kernel's device; "linux" is C beside it, on the same device; "host" is Java on
# the host, on the software device. Java selects the device by the address, as a user's program does.

# Runs a case on one of the kernel's devices.
case_on() { # SERVER CLIENT DEVICE(rxe0|siw0) FUNCTION ARGUMENTS...
    local guest_device=$3
    "$4" "$1" "$2" "${@:5}"
}

# Runs a case while the guest's kernel has no RoCE device: the same commands then use the software device in the guest.
case_without_rxe() { # SERVER CLIENT FUNCTION ARGUMENTS...
    local inside_is_soft=true bad=0
    guest_sh guest 'rdma link delete rxe0 && rmmod rdma_rxe' >/dev/null || { explain 'the guest cannot remove rxe0'; return 1; }
    "$3" "$1" "$2" "${@:4}" || bad=1
    guest_sh guest "$guest_clean" # the module needs the UDP port
    guest_sh guest "insmod $kernel_dir/lib/modules/$(kernel_release)/kernel/drivers/infiniband/sw/rxe/rdma_rxe.ko* &&
        rdma link add rxe0 type rxe netdev eth0" || explain 'the guest cannot create rxe0 again' || bad=1
    return $bad
}

# guest_java LABEL OPTIONS-AND-CLASS... : runs the JDK's java in the guest, in the checkout, waits until it ends, and returns its
# exit code, or 124 or 137 after the timeout of the case. The class path may contain any folder of the host. The output is in the
# files LABEL.out and .err of the case.
guest_java() {
    local label=$1
    shift
    guest_command inside "$label" env -C "$repo_dir" "${inside_environment[@]}" "$java" -XX:+UseSerialGC -XX:-UsePerfData \
        "${inside_java_options[@]}" -Djava.net.preferIPv6Addresses=system "$@"
    rping_wait "$label" || { explain "$label did not end"; return 1; }
    return "$(exit_code "$label")"
}

# Java in the guest starts, and finds the program of the host.
case_java_starts() {
    local started
    started=$(now_ms)
    guest_java java --version || explain 'java --version fails' || return 1
    expect_lines java out '^openjdk 2[5-9]|^openjdk [3-9]' || return 1
    remark "java --version $(seconds $(($(now_ms) - started))) s"
    started=$(now_ms)
    tool_start inside devices ibv_devices
    rping_wait devices || explain 'ibv_devices did not end' || return 1
    expect_code devices 0 && expect_quiet devices || return 1
    remark "ibv_devices $(seconds $(($(now_ms) - started))) s"
}

# C and Java print the same lines about a device of the kernel.
case_devinfo() {
    tool_start linux c ibv_devinfo -v -d "$guest_device"
    rping_wait c || explain 'ibv_devinfo of C did not end' || return 1
    tool_start inside java ibv_devinfo -v -d "$guest_device"
    rping_wait java || explain 'ibv_devinfo did not end' || return 1
    expect_code c 0 && expect_code java 0 && expect_quiet java || return 1
    diff "$case_dir/c.out" "$case_dir/java.out" >"$case_dir/diff" || explain "the lines differ: $(head -c 300 "$case_dir/diff")" || return 1
    remark "$(wc -l <"$case_dir/java.out") lines"
}

# The class path of the conformance tests, which conformance_build sets: folders of classes and libraries on the host.
conformance_class_path=
conformance_build() {
    # shellcheck disable=SC2086
    conformance_class_path=$("$repo_dir/.ci/class-path" conformance $(sed -n 's/^modules="\(.*\)"$/\1/p' "$repo_dir/checks/conformance/run")) ||
        die 'the conformance tests cannot be built'
}

# The part of the load in percent that the load tests of conformance put on a device here.
conformance_load=2

# The conformance tests of verbs, connections and RDMA sockets on a device: see checks/conformance/run --help.
case_conformance() { # SERVER CLIENT DEVICE
    local device=$3 report=$work_dir/conformance-$3.txt bad=0
    guest_java conformance -Djava.net.preferIPv6Addresses=false --enable-native-access=ALL-UNNAMED \
        -cp "$conformance_class_path" io.rdma4j.conformance.run.Main \
        --device "$device" --load $conformance_load --verbose "${conformance_classes[@]}" || bad=1
    cp "$case_dir/conformance.out" "$report"
    sed -n '/^class  /,$s/^/    /p' "$report"
    expect_code conformance 0 || bad=1
    expect_lines conformance out "^all of $device  *[1-9][0-9]* +0 " || bad=1
    remark "passed, failed, lacking: $(awk '/^all of / { print $4 ", " $5 ", " $6 }' "$report")"
    return $bad
}

# example SIDE LABEL DEVICE ADDRESS [NAME [ARGUMENT]] : runs an example, WhichDevice by default, with DEVICE as the user's choice if it is
# not empty.
example() {
    local side=$1 label=$2 command=(env "JDK_JAVA_OPTIONS=-XX:+UseSerialGC -XX:TieredStopAtLevel=1")
    [ -z "$3" ] || command+=("RDMA4J_DEVICE=$3")
    command+=("$repo_dir/examples/run" "${5:-WhichDevice}" -- "$4" "${@:6}")
    if [ "$side" = far ]; then java_start far "$label" "${command[@]}"; else guest_command inside "$label" "${command[@]}"; fi
    rping_wait "$label" || explain "$label did not end"
}

expect_device() { # LABEL DEVICE
    expect_code "$1" 0 && expect_lines "$1" out "^client: $2 on " && expect_lines "$1" out "^server: written by $2\$"
}

# The examples whose clients come, go and fail, at the address of a device. siw has queues for few clients, no atomic operations, and
# as iWARP no wait for a receive, which FileReplicator needs.
case_examples() { # SERVER CLIENT DEVICE
    local address=$guest_ip4 name bad=0 names=(RequestResponse)
    if [ "$3" = siw0 ]; then address=$iwarp_ip4; else names+=(FileReplicator KeyValueStore DistributedLock); fi
    for name in "${names[@]}"; do
        example inside "$name" "$3" "$address" "$name" 8 && expect_code "$name" 0 || bad=1
    done
    remark "${names[*]}"
    return $bad
}

# One command with one address, on a host that has the address on an interface without a device, and in the guest.
case_same_command() { # SERVER CLIENT
    local bad=0
    far_up
    in_far ip addr add "$guest_ip4/24" dev far0 || explain 'the host cannot have the address' || bad=1
    example far on-host '' "$guest_ip4" && expect_device on-host rdma4j_far0 || bad=1
    example far on-host-hardware hardware "$guest_ip4" || bad=1
    expect_code on-host-hardware 1 || bad=1
    expect_lines on-host-hardware err 'the provider hardware, which --device or RDMA4J_DEVICE requests, has no RDMA device' || bad=1
    example inside in-guest '' "$guest_ip4" && expect_device in-guest rxe0 || bad=1
    example inside in-guest-rxe0 rxe0 "$guest_ip4" && expect_device in-guest-rxe0 rxe0 || bad=1
    netns_delete "$far_netns"
    return $bad
}

# The guest without rxe: the address of siw0 uses siw0, or the software device if the user asks for it.
case_chosen_device() { # SERVER CLIENT
    local bad=0
    example inside by-address '' "$iwarp_ip4" && expect_device by-address siw0 || bad=1
    example inside by-choice soft "$iwarp_ip4" && expect_device by-choice rdma4j_iwarp0 || bad=1
    return $bad
}

# netty SIDE LABEL ROLE ADDRESS : starts an echo of Netty, which knows nothing of RDMA, by "rdma4j run".
netty() {
    local command=(env "PATH=$(dirname "$java"):$PATH" "JDK_JAVA_OPTIONS=-XX:+UseSerialGC -XX:TieredStopAtLevel=1" "$launcher" run --rules '*=rdma'
        -- java -cp "$(class_path_without_modules)" io.rdma4j.conformance.programs.NettyEcho "$3" "$4" $port)
    if [ "$1" = host ]; then java_start host "$2" "${command[@]}"; else guest_command "$1" "$2" "${command[@]}"; fi
}

# The class path of the conformance tests without the modules, which "rdma4j run" adds.
class_path_without_modules() { tr : '\n' <<<"$conformance_class_path" | grep -v '/target/classes$' | paste -sd:; }

# 4 MB to an echo server and back. The kernel's device, where there is one, must have carried them.
case_netty() { # SERVER CLIENT
    local server=$1 client=$2 bad=0 before after
    before=$(device_packets)
    netty "$server" server server "$(side_address "$server" v4)"
    wait_until $start_seconds netty_listens "$server" || explain 'the server did not listen' || return 1
    netty "$client" client client "$(side_address "$server" v4 "$client")"
    rping_wait client || explain 'the client did not end' || bad=1
    expect_code client 0 || bad=1
    expect_lines client out '^echoed 4000000 bytes' || bad=1
    after=$(device_packets)
    if [ $guest_device = rxe0 ]; then
        [ $((after - before)) -gt 2000 ] || explain "rxe0 sent only $((after - before)) packets" || bad=1
        remark "rxe0 sent $((after - before)) packets"
    fi
    rping_signal server INT
    rping_wait server 30 || explain 'the server did not end' || bad=1
    return $bad
}
netty_listens() {
    if [ "$1" = host ]; then grep -q ready "$case_dir/server.out"; else guest_sh guest 'grep -q ready /tmp/server.out'; fi
}

# The packets that rxe0 has sent since it was created.
device_packets() { guest_sh guest "rdma statistic show link rxe0/1 2>/dev/null | grep -o 'sent_pkts [0-9]*' | grep -o '[0-9]*\$' || echo 0"; }

# One test with C on both sides and with Java on both sides, one after the other, on one device: the last column is the overhead of
# Java. Java warms up before, with both compilers.
case_overhead() { # SERVER CLIENT TOOL "SIZES" COUNT OPTIONS...
    local warm_up=true bad=0 in_c in_java inside_environment=("${inside_environment[@]}" RDMA4J_JAVA_OPTS=)
    case_perftest linux linux "${@:3}" || bad=1
    in_c=$(perftest_figure client)
    mkdir "$case_dir/c"
    mv "$case_dir"/{server,client}.* "$case_dir/c"
    rm -f "$case_dir/remark"
    case_perftest inside inside "${@:3}" || bad=1
    in_java=$(perftest_figure client)
    rm -f "$case_dir/remark"
    remark "C $in_c, Java $in_java: $(awk -v c="$in_c" -v java="$in_java" '
        function number(text) { match(text, /[0-9][0-9.]*/); return substr(text, RSTART, RLENGTH) }
        BEGIN { printf "%.2f", number(java) / number(c) }')"
    return $bad
}

# device_case DEVICE NAME SERVER CLIENT EXPECTED SECONDS FUNCTION ARGUMENTS...
device_case() { case_add "${1%0}/$2" "$3" "$4" "$5" "$6" case_on "$1" "${@:7}"; }

# What both devices have.
define_connected_cases() { # DEVICE SERVER CLIENT
    local at=("$1") pair=("$2" "$3") tool family
    for family in v4 v6 ll; do device_case "${at[@]}" "rping/$family" "${pair[@]}" '10 pings' 120 case_ping $family 64 10; done
    device_case "${at[@]}" rping/65535 "${pair[@]}" '4 pings' 120 case_ping v4 65535 4
    device_case "${at[@]}" ucmatose/v4 "${pair[@]}" '10 messages each way' 120 case_messages ucmatose v4
    device_case "${at[@]}" ucmatose/-c-8 "${pair[@]}" '8 connections' 120 case_messages ucmatose v6 -c 8
    device_case "${at[@]}" ucmatose/-S-100000 "${pair[@]}" '3 x 100000 bytes' 120 case_messages ucmatose v4 -S 100000 -C 3
    device_case "${at[@]}" rdma_client/v4 "${pair[@]}" '1 message each way' 120 case_endpoints v4 7471
    device_case "${at[@]}" rdma_client/refused "${pair[@]}" 'refused, exit 255' 120 case_endpoint_refused v4
    device_case "${at[@]}" rdma_xclient/-c-r "${pair[@]}" '1 message over RC' 120 case_endpoints v4 7999 any x -c r
    device_case "${at[@]}" cmtime/classic "${pair[@]}" '10 connections' 180 case_cmtime_classic v4 10
    device_case "${at[@]}" rstream/v4 "${pair[@]}" '100 x 1000 bytes' 120 case_stream rstream v4 'custom 1000 100 1 195k' -C 100 -T v
    device_case "${at[@]}" rstream/-T-b "${pair[@]}" 'blocking' 120 case_stream rstream v6 'custom 19k 50 2 3.8m' -S 20000 -C 50 -I 2 -T b -T v
    # C against C fails; see README.md.
    [ "$inside" = c ] || device_case "${at[@]}" rstream/-T-a "${pair[@]}" 'poll' 120 case_stream rstream v4 'custom 19k 50 2 3.8m' -S 20000 -C 50 -I 2 -T a -T v
    device_case "${at[@]}" rstream/-S-65536 "${pair[@]}" '20 x 64 KiB' 120 case_stream rstream v4 'custom 64k 20 1 2.5m' -S 65536 -C 20 -T v
    device_case "${at[@]}" rcopy/v4 "${pair[@]}" '2 MB' 120 case_rcopy v4 2000000
    for tool in send write read; do
        device_case "${at[@]}" "perftest/ib_${tool}_lat" "${pair[@]}" '100 x 2 bytes' 120 case_perftest ib_${tool}_lat 2 100 -R -n 100
        device_case "${at[@]}" "perftest/ib_${tool}_bw" "${pair[@]}" '100 x 64 KiB' 120 case_perftest ib_${tool}_bw 65536 100 -R -n 100
    done
    device_case "${at[@]}" perftest/ib_send_lat/-e "${pair[@]}" '50 x 1 KiB, by events' 120 case_perftest ib_send_lat 1024 50 -R -n 50 -s 1024 -e
    device_case "${at[@]}" perftest/ib_write_bw/-q-2 "${pair[@]}" '2 x 100 x 4 KiB' 120 case_perftest ib_write_bw 4096 200 -R -n 100 -s 4096 -q 2
}

# What only RoCE has.
define_roce_cases() { # DEVICE SERVER CLIENT
    local at=("$1") pair=("$2" "$3") kind size family
    device_case "${at[@]}" rping/refused "${pair[@]}" 'REJ 8, exit 255' 120 case_refused v4
    for family in v4 v6; do device_case "${at[@]}" "udaddy/$family" "${pair[@]}" '10 datagrams each way' 120 case_messages udaddy $family; done
    device_case "${at[@]}" mckey/v4 "${pair[@]}" '2 receivers, 10 each' 180 case_mckey v4 2 ''
    device_case "${at[@]}" riostream/v4 "${pair[@]}" '100 x 1000 bytes' 120 case_stream riostream v4 'custom 1000 100 1 195k' -C 100 -T v
    for kind in rc uc ud; do
        size=4096
        [ $kind != ud ] || size=1024
        device_case "${at[@]}" "pingpong/$kind" "${pair[@]}" '100 exchanges' 120 case_pingpong ibv_${kind}_pingpong v4 $size 100
        device_case "${at[@]}" "pingpong/$kind/events" "${pair[@]}" '20 exchanges of 333' 120 case_pingpong ibv_${kind}_pingpong v6 333 20 -e
    done
    device_case "${at[@]}" pingpong/srq "${pair[@]}" '300 exchanges' 120 case_pingpong ibv_srq_pingpong v4 4096 300
    device_case "${at[@]}" pingpong/srq/events "${pair[@]}" '50 exchanges of 333' 120 case_pingpong ibv_srq_pingpong v4 333 50 -q 5 -e
    device_case "${at[@]}" perftest/ib_atomic_lat "${pair[@]}" '100 fetch-and-add' 120 case_perftest ib_atomic_lat 8 100 -R -n 100
    device_case "${at[@]}" perftest/ib_atomic_bw "${pair[@]}" '300 fetch-and-add' 120 case_perftest ib_atomic_bw 8 300 -R -n 300
    device_case "${at[@]}" perftest/ib_write_lat/tcp "${pair[@]}" '50 x 2 bytes' 120 case_perftest ib_write_lat 2 50 -n 50
    device_case "${at[@]}" perftest/ib_send_bw/UD "${pair[@]}" '100 datagrams of 1 KiB' 120 case_perftest ib_send_bw 1024 100 -R -n 100 -s 1024 -c UD
    device_case "${at[@]}" perftest/ib_send_lat/UC "${pair[@]}" '100 x 1 KiB' 120 case_perftest ib_send_lat 1024 100 -n 100 -s 1024 -c UC
}

# What Java costs on a device, beside C.
define_overhead_cases() { # DEVICE
    local tool
    for tool in write_lat send_lat; do
        device_case "$1" "overhead/ib_$tool" inside inside 'C and Java, 2 bytes' 240 case_overhead ib_$tool 2 20000 -R -n 20000
    done
    device_case "$1" overhead/ib_send_lat/-e inside inside 'C and Java, by events' 240 case_overhead ib_send_lat 2 5000 -R -n 5000 -e
    device_case "$1" overhead/ib_write_bw/64 inside inside 'C and Java, 64 bytes' 240 case_overhead ib_write_bw 64 20000 -R -n 20000 -s 64
    device_case "$1" overhead/ib_write_bw/65536 inside inside 'C and Java, 64 KiB' 240 case_overhead ib_write_bw 65536 2000 -R -n 2000
}

# The reasons why siw0 has no such cases.
define_iwarp_limits() { # SERVER CLIENT
    local tool no_datagrams='iWARP has no UD' no_atomics='iWARP has no atomic operations'
    for tool in udaddy mckey perftest/ib_send_bw/UD; do case_cannot "siw/$tool" "$1" "$2" "$no_datagrams"; done
    for tool in lat bw; do case_cannot "siw/perftest/ib_atomic_$tool" "$1" "$2" "$no_atomics"; done
    case_cannot siw/pingpong "$1" "$2" 'only the connection manager can connect a queue pair of iWARP'
    # C's rping does not end then.
    case_cannot siw/rping/refused "$1" "$2" 'rdma_connect of iWARP fails at once: siw/rdma_client/refused'
    case_cannot siw/perftest/UC "$1" "$2" 'iWARP has no UC'
}

# Java on rxe0 and Java on the host's software device, across the tap.
define_tap_cases() { # SERVER CLIENT
    local pair=("$1" "$2") kind size family
    for family in v4 v6 ll; do case_add "tap/rping/$family" "${pair[@]}" '10 pings' 120 case_ping $family 64 10; done
    case_add tap/rping/65535 "${pair[@]}" '4 pings' 120 case_ping v4 65535 4
    case_add tap/rping/refused "${pair[@]}" 'refused, exit 255' 120 case_refused v4
    case_add tap/ucmatose/-c-8 "${pair[@]}" '8 connections' 120 case_messages ucmatose v4 -c 8
    case_add tap/udaddy/v4 "${pair[@]}" '10 datagrams each way' 120 case_messages udaddy v4
    case_add tap/mckey/v4 "${pair[@]}" '2 receivers, 10 each' 180 case_mckey v4 2 ''
    case_add tap/rstream/v4 "${pair[@]}" '100 x 1000 bytes' 120 case_stream rstream v4 'custom 1000 100 1 195k' -C 100 -T v
    case_add tap/rstream/-T-a "${pair[@]}" 'poll' 120 case_stream rstream v6 'custom 19k 50 2 3.8m' -S 20000 -C 50 -I 2 -T a -T v
    case_add tap/riostream/v4 "${pair[@]}" '100 x 1000 bytes' 120 case_stream riostream v4 'custom 1000 100 1 195k' -C 100 -T v
    case_add tap/rcopy/v4 "${pair[@]}" '2 MB' 120 case_rcopy v4 2000000
    for kind in rc uc ud srq; do
        size=4096
        [ $kind != ud ] || size=1024
        case_add "tap/pingpong/$kind" "${pair[@]}" '100 exchanges' 120 case_pingpong ibv_${kind}_pingpong v4 $size 100
    done
    for kind in send_lat write_lat read_lat; do
        case_add "tap/perftest/ib_$kind" "${pair[@]}" '100 x 2 bytes' 120 case_perftest ib_$kind 2 100 -R -n 100
    done
    for kind in send_bw write_bw read_bw; do
        case_add "tap/perftest/ib_$kind" "${pair[@]}" '100 x 64 KiB' 120 case_perftest ib_$kind 65536 100 -R -n 100
    done
    case_add tap/perftest/ib_atomic_lat "${pair[@]}" '100 fetch-and-add' 120 case_perftest ib_atomic_lat 8 100 -R -n 100
}

# The cases of --quick are one of each tool in both roles, on rxe0 and, where they differ, on siw0.
beyond_quick='^('
beyond_quick+='[a-z]+/(rping/(v6|ll|65535|refused)|rdma_client/refused|ucmatose/(-c-8|-S-100000)|rstream/(-T-[ab]|-S-65536)|udaddy/v6|pingpong/[a-z]+/events|rcopy/v4)'
beyond_quick+='|[a-z]+/(perftest/ib_(send|read)_bw|perftest/ib_send_lat|perftest/ib_atomic_bw|perftest/ib_[a-z]+_[a-z]+/.*)'
beyond_quick+='|[a-z]+/(conformance|overhead/.*)|rxe/fault/(connections|link-down)|siw/fault/(connections|kill-9/.*|locked-memory|no-permission|deleted/rping)'
beyond_quick+='|siw/(cmtime/.*|rdma_x?client/.*)'
beyond_quick+=')$'

define_hardware_cases() {
    local pair device pairs=('inside linux' 'linux inside' 'inside inside')
    # C against C has one role.
    [ "$inside" = java ] || pairs=('linux inside')
    [ "$inside" = c ] || case_add java inside inside 'starts in the guest' 120 case_java_starts
    [ "$inside" = c ] || case_add same-command inside inside 'rdma4j_far0, rxe0' 180 case_same_command
    for device in rxe0 siw0; do
        [ "$inside" = c ] || device_case $device ibv_devinfo inside inside 'the lines of C' 120 case_devinfo
        [ "$inside" = c ] || device_case $device conformance inside inside 'no failure' 3600 case_conformance $device
        [ "$inside" = c ] || device_case $device netty inside inside 'echoes 4 MB' 180 case_netty
        [ "$inside" = c ] || device_case $device examples inside inside 'they end with 0' 300 case_examples $device
    done
    for pair in "${pairs[@]}"; do
        # shellcheck disable=SC2086
        define_connected_cases rxe0 $pair
        # shellcheck disable=SC2086
        define_roce_cases rxe0 $pair
    done
    for pair in "${pairs[@]}"; do
        # shellcheck disable=SC2086
        define_connected_cases siw0 $pair
        # shellcheck disable=SC2086
        define_iwarp_limits $pair
    done
    for device in rxe0 siw0; do [ "$inside" = c ] || define_overhead_cases $device; done
    [ "$inside" = c ] || define_fault_cases
    for pair in 'inside host' 'host inside'; do
        [ "$inside" = java ] || continue
        # shellcheck disable=SC2086
        define_tap_cases $pair
        # shellcheck disable=SC2086
        case_add tap/netty $pair 'echoes 4 MB' 180 case_netty
        # shellcheck disable=SC2086
        case_add soft/rping/v4 $pair 'without rxe0' 120 case_without_rxe case_ping v4 64 10
    done
    [ "$inside" = c ] || case_add soft/chosen inside inside 'siw0, rdma4j_iwarp0' 180 case_without_rxe case_chosen_device
}
