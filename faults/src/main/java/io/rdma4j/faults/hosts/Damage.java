package io.rdma4j.faults.hosts;

/**
 * What the kernel (nft) does to the RoCE packets that arrive at an interface.
 *
 * <p>A cable has no memory: delay and reordering are what {@link io.rdma4j.faults.relay.Relay} does. Each
 * frame is a packet by itself, unless {@link TwoHosts#segmentsTogether}.
 *
 * @param lossPerMille so many of 1000 are lost, by chance; 1000 for all
 * @param duplicatePerMille so many of 1000 come twice
 * @param corruptPerMille of so many of 1000 a byte of the payload is overwritten, which the ICRC must show
 * @param managementLostOnce attribute number of the message of the connection manager that is lost once, over IPv4; 0 for
 *     none
 */
public record Damage(int lossPerMille, int duplicatePerMille, int corruptPerMille, int managementLostOnce) {
    /** Length of the IPv4 packet of a message of the connection manager. */
    private static final int MANAGEMENT_BYTES = 308;

    /** None. */
    public static final Damage NONE = new Damage(0, 0, 0, 0);

    /** All is lost. */
    public static final Damage ALL_LOST = loss(1000);

    /** Loss alone. */
    public static Damage loss(int perMille) {
        return new Damage(perMille, 0, 0, 0);
    }

    /** The next message of the connection manager with this attribute number is lost, no other. */
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
            // Behind 8 bytes of UDP header, 12 of BTH, 8 of DETH and 16 of the management datagram. Both hosts ask for
            // queue pair 1. The quota is used up by the first.
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
