package io.rdma4j.verbs;

/** Most payload bytes of one packet. C: {@code enum ibv_mtu}. */
public enum PathMtu {
    /** 256 bytes. */
    MTU_256(1),
    /** 512 bytes. */
    MTU_512(2),
    /** 1024 bytes: what fits an Ethernet of 1500. */
    MTU_1024(3),
    /** 2048 bytes. */
    MTU_2048(4),
    /** 4096 bytes: loopback, and an Ethernet of 4200 and more. */
    MTU_4096(5);

    private final int code;

    PathMtu(int code) {
        this.code = code;
    }

    /** The number on the wire and of {@code enum ibv_mtu}, 1 to 5. */
    public int code() {
        return code;
    }

    /** Payload bytes. */
    public int bytes() {
        return 128 << code;
    }

    /**
     * The constant of a number.
     *
     * @throws IllegalArgumentException if it is not 1 to 5
     */
    public static PathMtu ofCode(int code) {
        if (code < 1 || code > values().length) {
            throw new IllegalArgumentException("path MTU code " + code + " is not 1 to 5");
        }
        return values()[code - 1];
    }

    /** The largest path MTU of at most {@code bytes}; {@link #MTU_256} where even that is too much. */
    public static PathMtu atMost(int bytes) {
        PathMtu best = MTU_256;
        for (PathMtu mtu : values()) {
            if (mtu.bytes() <= bytes) {
                best = mtu;
            }
        }
        return best;
    }
}
