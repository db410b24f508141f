package io.rdma4j.faults.hosts;

/**
 * What the kernel (nft) does to the RoCE packets that arrive at an interface.
 *
 * <p>A cable has no memory: delay and reordering are what the in-process {@code FaultSpec} and the simulator do. Packets
 * that were sent with segmentation offload arrive here as one large packet over veth unless that is switched off, so that
 * loss would hit bursts; {@link TwoHosts} is told by the test which it wants.
 *
 * @param lossPerMille so many of 1000 are lost, by chance; 1000 for all
 * @param duplicatePerMille so many of 1000 come twice
 * @param corruptPerMille of so many of 1000 a byte of the payload is overwritten, which the ICRC must show
 */
public record Damage(int lossPerMille, int duplicatePerMille, int corruptPerMille) {
    /** None. */
    public static final Damage NONE = new Damage(0, 0, 0);

    /** All is lost. */
    public static final Damage ALL_LOST = loss(1000);

    /** Loss alone. */
    public static Damage loss(int perMille) {
        return new Damage(perMille, 0, 0);
    }

    String table(String device) {
        StringBuilder rules = new StringBuilder();
        if (lossPerMille >= 1000) {
            rules.append("udp dport 4791 counter drop\n");
        } else if (lossPerMille > 0) {
            rules.append("udp dport 4791 numgen random mod 1000 < %d counter drop%n".formatted(lossPerMille));
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
