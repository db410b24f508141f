# Starts and stops guests and runs commands in them; sourced by other scripts. A guest is "guest" (10.88.0.2) or "peer" (10.88.0.1).

# The guest's memory in MiB. RDMA4J_INTEROP_MEMORY overrides it. A Java virtual machine in the guest needs more.
guest_memory=512

# Guests that are started later have memory for Java.
guest_for_java() { guest_memory=1536; }

declare -A guest_pid guest_address=([guest]=$guest_ip4 [peer]=$host_ip4)

# require_setup NEEDS-GUEST(true|false) : fails if something that checks/interop/setup installs is missing.
require_setup() {
    local tool tools='tcpdump tshark ip ss' missing=()
    ! $1 || tools+=' qemu-system-x86_64 rping rdma ibv_devices nft tc'
    for tool in $tools; do
        type -P "$tool" >/dev/null || missing+=("$tool")
    done
    ! $1 || [ -x "$guest_busybox" ] || missing+=("$guest_busybox")
    ! $1 || kernel_release >/dev/null || missing+=("a guest kernel in $kernel_dir")
    ! $1 || ! $guest_has_siw || [ -f "$(siw_file "$(kernel_release)")" ] || missing+=("the module siw for it")
    ! $1 || [ -z "$guest_layer" ] || [ -f "$guest_layer/complete" ] || missing+=("the programs of Debian 13 in $guest_layer")
    [ ${#missing[@]} -eq 0 ] ||
        die "missing: ${missing[*]}; run $interop_dir/setup$(! $guest_has_siw || echo " --hardware")$([ -z "$guest_layer" ] || echo " --newer") \
first (it needs the Debian archive)"
    ! $1 || [ -c /dev/net/tun ] || die "missing /dev/net/tun (modprobe tun)"
}

# maxcpus=2: QEMU 7.2 omits the guest's memory barriers if the machine can have only one processor, although the threads of the
# emulated devices need them. A notification of the network card is then lost, and the card stops.
# guest_start NAME TAP MAC-END IP4 IP6 MTU LOG
guest_start() {
    local name=$1 tap=$2 mac_end=$3 ip4=$4 ip6=$5 mtu=$6 log=$7 release folders=()
    [ -z "$guest_layer" ] || folders=(-virtfs "local,path=$guest_layer,mount_tag=layer,security_model=none,readonly=on,multidevs=remap")
    release=$(kernel_release)
    ip netns exec "$netns" qemu-system-x86_64 -name "rdma4j-interop-$name" \
        -machine q35,accel=tcg -cpu max -smp "${RDMA4J_INTEROP_PROCESSORS:-1},maxcpus=2" -m "${RDMA4J_INTEROP_MEMORY:-$guest_memory}" \
        -nodefaults -no-user-config -no-reboot -display none -monitor none -serial "file:$log" \
        -kernel "$kernel_dir/boot/vmlinuz-$release" -initrd "$work_dir/initramfs" \
        -append "console=ttyS0 quiet loglevel=4 panic=-1 nokaslr mitigations=off no_timer_check tsc=reliable net.ifnames=0 interop.ip4=$ip4 interop.ip6=$ip6 interop.mtu=$mtu" \
        -netdev "tap,id=net0,ifname=$tap,script=no,downscript=no" \
        -device "virtio-net-pci,netdev=net0,mac=52:54:00:88:00:$mac_end,romfile=" \
        -virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap "${folders[@]}" \
        >"$log.qemu" 2>&1 </dev/null &
    guest_pid[$name]=$!
    disown "$!"
}

# Prints the version of rdma-core in the guest.
guest_rdma_core() {
    if [ -n "$guest_layer" ]; then cat "$guest_layer/complete"; else guest_sh guest 'dpkg-query -W -f "\${Package} \${Version}" rdmacm-utils'; fi
}

guest_sh() { in_netns "$lib_dir/guest-call" "${guest_address[$1]}" "$2"; }

# The guest keeps what it has read of the host's files. Afterwards it reads them again, for example after a build.
guest_refresh() { guest_sh "$1" 'echo 3 >/proc/sys/vm/drop_caches'; } # NAME

guest_answers() { [ "$(guest_sh "$1" 'echo up' 2>/dev/null)" = up ]; }

# guest_wait NAME SECONDS LOG
guest_wait() {
    local end=$(($(now_ms) + $2 * 1000))
    until guest_answers "$1"; do
        kill -0 "${guest_pid[$1]}" 2>/dev/null || { tail -n 20 "$3" "$3.qemu" >&2; die "the emulator of $1 ended"; }
        [ "$(now_ms)" -lt "$end" ] || { tail -n 20 "$3" >&2; die "guest $1 did not answer within $2 s"; }
        sleep 0.2
    done
    guest_sh "$1" 'test -c /dev/infiniband/uverbs0 && rdma link show rxe0/1 | grep -q ACTIVE' ||
        { tail -n 20 "$3" >&2; die "guest $1 has no working rxe0"; }
    ! $guest_has_siw || guest_sh "$1" 'rdma link show siw0/1 | grep -q ACTIVE' ||
        { tail -n 20 "$3" >&2; die "guest $1 has no working siw0"; }
}

# world_up PEER MTU : creates namespace, tap and guests; work_dir must exist. world_down removes them.
world_up() {
    local peer=$1 mtu=$2
    netns_delete_stale
    net_up "$peer" "$mtu"
    build_initramfs "$(kernel_release)" "$work_dir/initramfs" || die "cannot build the guest's initramfs"
    guest_start guest tap0 02 $guest_ip4 $guest_ip6 "$mtu" "$work_dir/guest.log"
    [ "$peer" = java ] || guest_start peer tap1 01 $host_ip4 $host_ip6 "$mtu" "$work_dir/peer.log"
    guest_wait guest 120 "$work_dir/guest.log"
    [ "$peer" = java ] || guest_wait peer 120 "$work_dir/peer.log"
}

# guest_revive MTU : replaces a guest that no longer replies. Its network card has stopped ("NETDEV WATCHDOG" in its log), which
# is a fault of the emulation and not of the case.
guest_revivals=0
guest_revive() {
    guest_revivals=$((guest_revivals + 1))
    kill -KILL "${guest_pid[guest]}" 2>/dev/null
    wait_until 10 eval "! kill -0 ${guest_pid[guest]} 2>/dev/null"
    guest_start guest tap0 02 $guest_ip4 $guest_ip6 "$1" "$work_dir/guest-$guest_revivals.log"
    guest_wait guest 120 "$work_dir/guest-$guest_revivals.log"
}

world_down() {
    netns_delete "$netns"
    netns_delete "$far_netns"
    rm -f "${work_dir:-/nonexistent}/initramfs"
}
