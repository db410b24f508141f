# The network: a namespace, one tap per guest, and faults on the tap; sourced by other scripts.
#
#   host side  10.88.0.1  fd00:88::1  fe80::5054:ff:fe88:1   (tap0, or a second guest on tap1 with --peer c)
#   guest      10.88.0.2  fd00:88::2  fe80::5054:ff:fe88:2   (eth0 with rxe0)
#   guest      10.90.0.2  fd00:90::2  fe80::5054:ff:fe90:2   (iwarp0 with siw0; only checks/interop/hardware)
#   near       10.89.0.1  fd00:89::1  fe80::5054:ff:fe89:1   (near0, a veth pair; same namespace as the host side)
#   far        10.89.0.2  fd00:89::2  fe80::5054:ff:fe89:2   (far0, in a namespace of its own: another host)
#   twin       the same link-local addresses on a second link, near1 to far1, as with VLANs

netns=$netns_prefix$$
far_netns=$netns-far
host_ip4=10.88.0.1 host_ip6=fd00:88::1 host_link_local=fe80::5054:ff:fe88:1
guest_ip4=10.88.0.2 guest_ip6=fd00:88::2 guest_link_local=fe80::5054:ff:fe88:2
iwarp_ip4=10.90.0.2 iwarp_ip6=fd00:90::2 iwarp_link_local=fe80::5054:ff:fe90:2
near_ip4=10.89.0.1 near_ip6=fd00:89::1 near_link_local=fe80::5054:ff:fe89:1
far_ip4=10.89.0.2 far_ip6=fd00:89::2 far_link_local=fe80::5054:ff:fe89:2
control_ip4=10.88.0.254 # the namespace's own address when the host side is a second guest

in_netns() { ip netns exec "$netns" "$@"; }
in_far() { ip netns exec "$far_netns" "$@"; }

# Ends all processes in a namespace of this script, and deletes the namespace.
netns_delete() {
    local pids
    pids=$(ip netns pids "$1" 2>/dev/null)
    [ -z "$pids" ] || kill -9 $pids 2>/dev/null
    ip netns delete "$1" 2>/dev/null
    wait_until 5 netns_absent "$1"
}
netns_absent() { ! ip netns list | grep -q "^$1\b"; }

# Deletes the namespaces of earlier runs that were killed.
netns_delete_stale() {
    local name pid
    for name in $(ip netns list | awk '{print $1}' | grep "^$netns_prefix"); do
        pid=${name#"$netns_prefix"}
        pid=${pid%-far}
        if ! tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q interop; then
            note "interop: removing $name, left over by a run that was killed"
            netns_delete "$name"
        fi
    done
}

# Without duplicate address detection and router solicitations, addresses can be used at once.
netns_make() {
    local f
    ip netns add "$1" || die "cannot make a network namespace (ip netns add $1)"
    for f in all default; do
        ip netns exec "$1" sysctl -qw "net.ipv6.conf.$f.accept_dad=0" "net.ipv6.conf.$f.router_solicitations=0"
    done
    ip netns exec "$1" ip link set lo up
}

# The second host for Java against Java, and the interface towards it.
far_up() {
    netns_make "$far_netns"
    in_netns ip link add near0 type veth peer name far0 netns "$far_netns" || die "cannot make a veth pair"
    in_netns ip link set near0 address 52:54:00:89:00:01 up
    in_netns ip addr add "$near_ip4/24" dev near0
    in_netns ip -6 addr add "$near_ip6/64" dev near0 nodad
    in_far ip link set far0 address 52:54:00:89:00:02 up
    in_far ip addr add "$far_ip4/24" dev far0
    in_far ip -6 addr add "$far_ip6/64" dev far0 nodad
    in_netns ip link add near1 type veth peer name far1 netns "$far_netns"
    in_netns ip link set near1 address 52:54:00:89:00:01 up
    in_far ip link set far1 address 52:54:00:89:00:02 up
}

# net_up PEER MTU : PEER "java" puts the host side's addresses on tap0; "c" bridges tap0 with tap1 of a second guest.
net_up() {
    local peer=$1 mtu=$2 f
    netns_make "$netns"
    in_netns ip tuntap add dev tap0 mode tap || die "cannot make a tap (is /dev/net/tun there?)"
    if [ "$peer" = java ]; then
        in_netns ip link set tap0 address 52:54:00:88:00:01 mtu "$mtu" up
        in_netns ip addr add "$host_ip4/24" dev tap0
        in_netns ip -6 addr add "$host_ip6/64" dev tap0 nodad
    else
        in_netns ip link add br0 type bridge || die "cannot make a bridge"
        in_netns ip tuntap add dev tap1 mode tap
        for f in tap0 tap1; do in_netns ip link set $f mtu "$mtu" master br0 up; done
        in_netns ip link set br0 mtu "$mtu" up
        in_netns ip addr add "$control_ip4/24" dev br0
    fi
}

# nft_loss_on PER_MILLE : drops RoCE packets on the tap with nft, in both directions.
nft_loss_on() {
    in_netns nft -f - <<END
table netdev interop {
    chain from_guest {
        type filter hook ingress device tap0 priority 0;
        udp dport 4791 numgen random mod 1000 < $1 counter drop
    }
    chain to_guest {
        type filter hook egress device tap0 priority 0;
        udp dport 4791 numgen random mod 1000 < $1 counter drop
    }
}
END
}

# Ends the loss, and prints the number of dropped packets.
nft_loss_off() {
    in_netns nft list table netdev interop | awk '/counter packets/ { for (i = 1; i < NF; i++) if ($i == "packets") n += $(i + 1) } END { print n + 0 }'
    in_netns nft delete table netdev interop
}

# netem_on NETEM-ARGUMENTS... (such as "loss 5%") : applies netem to RoCE packets in the guest, in both directions. Outgoing
# packets pass netem on a band of a prio qdisc; incoming ones are redirected to ifb0, which has a netem of its own.
netem_on() {
    guest_sh guest "set -e
        ip link set ifb0 up
        for side in 'eth0 dst' 'ifb0 dst'; do
            set -- \$side
            tc qdisc add dev \$1 root handle 1: prio bands 4 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
            tc qdisc add dev \$1 parent 1:4 handle 4: netem limit 10000 $*
            tc filter add dev \$1 parent 1: protocol ip prio 1 u32 match ip protocol 17 0xff match ip dport 4791 0xffff flowid 1:4
            tc filter add dev \$1 parent 1: protocol ipv6 prio 2 u32 match ip6 protocol 17 0xff match ip6 dport 4791 0xffff flowid 1:4
        done
        tc qdisc add dev eth0 handle ffff: ingress
        tc filter add dev eth0 parent ffff: protocol all prio 1 u32 match u32 0 0 action mirred egress redirect dev ifb0"
}

netem_off() {
    guest_sh guest "
        { tc -s qdisc show dev eth0; tc -s qdisc show dev ifb0; } | awk '
            /^qdisc/ { netem = (\$2 == \"netem\") }
            netem && /dropped/ { sub(/.*dropped /, \"\"); n += \$1 }
            END { print n + 0 }'
        tc qdisc del dev eth0 root; tc qdisc del dev eth0 ingress; tc qdisc del dev ifb0 root; ip link set ifb0 down" 2>/dev/null
}

# mtu_set MTU : sets the MTU of both ends of the link; rxe0 takes it from its interface.
mtu_set() {
    local device
    for device in tap0 $([ "$peer" = java ] || echo tap1 br0); do in_netns ip link set $device mtu "$1"; done
    guest_sh guest "ip link set eth0 mtu $1"
    [ "$peer" = java ] || guest_sh peer "ip link set eth0 mtu $1"
}
