package io.rdma4j.acceptance.hosts;

/**
 * The damage that the kernel (nft) does to RoCE packets arriving at an interface.
 *
 * <p>Delay and reordering need a {@link io.rdma4j.acceptance.relay.Relay}. Each frame is damaged independently, unless
 * {@link TwoHosts#segmentsTogether} is set.
 *
 * @param lossPerMille packets of 1000 that are dropped at random; 1000 drops all
 * @param duplicatePerMille packets of 1000 that are duplicated
 * @param corruptPerMille packets of 1000 in which a byte covered by the ICRC is overwritten
 * @param managementLostOnce attribute ID of a connection manager message; the next such message is dropped (IPv4 only);
 *     0 for none
 */
public record Damage(int lossPerMille, int duplicatePerMille, int corruptPerMille, int managementLostOnce) {
    /** Length of the IPv4 packet of a connection manager message. */
    private static final int MANAGEMENT_BYTES = 308;

    /** No damage. */
    public static final Damage NONE = new Damage(0, 0, 0, 0);

    /** All packets are dropped. */
    public static final Damage ALL_LOST = loss(1000);

    /** Returns damage that only drops packets. */
    public static Damage loss(int perMille) {
        return new Damage(perMille, 0, 0, 0);
    }

    /** Returns damage that only drops the next connection manager message with this attribute ID. */
    public static Damage lostOnce(int attribute) {
        return new Damage(0, 0, 0, attribute);
    }

    String table(String device) {
        StringBuilder rules = new StringBuilder();
        if (lossPerMille >= 1000) {
            rules.append("udp dport 4791 counter drop\n");
        } else if (lossPerMille > 0) {
            rules.append("udp dport 4791 numgen random mod 1000 < %d counter drop%n".formatted(lossPerMille));
        }
        if (managementLostOnce > 0) {
            // The fields follow 8 bytes of UDP header, 12 of BTH, 8 of DETH and 16 of the management datagram. Both
            // hosts send to queue pair 1. The first message uses up the quota.
            rules.append("udp dport 4791 @th,104,24 1 @th,352,16 %d quota until %d bytes counter drop%n"
                    .formatted(managementLostOnce, MANAGEMENT_BYTES + 1));
        }
        if (duplicatePerMille > 0) {
            rules.append(
                    "udp dport 4791 numgen random mod 1000 < %d dup to \"%s\"%n".formatted(duplicatePerMille, device));
        }
        if (corruptPerMille > 0) {
            // The last byte of the packet sequence number.
            rules.append("udp dport 4791 numgen random mod 1000 < %d counter @th,152,8 set 0x55%n"
                    .formatted(corruptPerMille));
        }
        return """
                table netdev faults {
                  chain arriving {
                    type filter hook ingress device "%s" priority 0; policy accept;
                    %s
                  }
                }
                """.formatted(device, rules);
    }
}
