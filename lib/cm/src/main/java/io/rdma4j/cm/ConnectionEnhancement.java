package io.rdma4j.cm;

/**
 * Vendor-specific options that two devices negotiate for a connection (enhanced connection establishment). The
 * connection manager carries them in its request and reply, and does not interpret them. C: {@code struct ibv_ece}.
 * Immutable.
 *
 * @param vendorId the vendor that defines the options: an IEEE organisation number, 24 bits; 0 for none
 * @param options the options, in the vendor's format
 */
public record ConnectionEnhancement(int vendorId, int options) {
    /** No options. */
    public static final ConnectionEnhancement NONE = new ConnectionEnhancement(0, 0);

    private static final int MAX_VENDOR_ID = 0xff_ffff;

    /**
     * Checks the range of the vendor.
     *
     * @throws IllegalArgumentException if the vendor has more than 24 bits
     */
    public ConnectionEnhancement {
        if (vendorId < 0 || vendorId > MAX_VENDOR_ID) {
            throw new IllegalArgumentException(
                    "vendor is 0x" + Integer.toHexString(vendorId) + ", must be 0 to 0xffffff");
        }
    }

    @Override
    public String toString() {
        return "vendor 0x%06x, options 0x%08x".formatted(vendorId, options);
    }
}
