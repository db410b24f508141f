package io.rdma4j.cm;

/**
 * Options that two devices of one vendor agree on for a connection beyond what InfiniBand has (enhanced connection
 * establishment). The connection manager carries them in its request and reply, and means nothing by them. C: {@code struct
 * ibv_ece}. Immutable.
 *
 * @param vendorId who defines the options: an IEEE organisation number, 24 bits; 0 stands for none
 * @param options the options, as the vendor defines them
 */
public record ConnectionEnhancement(int vendorId, int options) {
    /** No options. */
    public static final ConnectionEnhancement NONE = new ConnectionEnhancement(0, 0);

    private static final int MOST = 0xff_ffff;

    /** Checks the range of the vendor. */
    public ConnectionEnhancement {
        if (vendorId < 0 || vendorId > MOST) {
            throw new IllegalArgumentException(
                    "vendor is 0x" + Integer.toHexString(vendorId) + ", must be 0 to 0xffffff");
        }
    }

    @Override
    public String toString() {
        return "vendor 0x%06x, options 0x%08x".formatted(vendorId, options);
    }
}
