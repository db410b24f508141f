package io.rdma4j.value;

/** The maximum payload of a packet. C: {@code enum ibv_mtu}. */
public enum PathMtu {
    /** 256 bytes. */
    MTU_256(1),
    /** 512 bytes. */
    MTU_512(2),
    /** 1024 bytes: fits an Ethernet MTU of 1500. */
    MTU_1024(3),
    /** 2048 bytes. */
    MTU_2048(4),
    /** 4096 bytes: fits loopback and an Ethernet MTU of 4200 or more. */
    MTU_4096(5);

    /** All constants. Their numbers start at 1 and have no gap. */
    private static final PathMtu[] BY_CODE = values();

    private final int code;

    PathMtu(int code) {
        this.code = code;
    }

    /** Returns the number on the wire and in {@code enum ibv_mtu}, 1 to 5. */
    public int code() {
        return code;
    }

    /** Returns the maximum payload in bytes. */
    public int bytes() {
        return 128 << code;
    }

    /**
     * Returns the constant of a number.
     *
     * @throws IllegalArgumentException if it is not 1 to 5
     */
    public static PathMtu ofCode(int code) {
        if (code < 1 || code > BY_CODE.length) {
            throw new IllegalArgumentException("path MTU code " + code + " is not 1 to 5");
        }
        return BY_CODE[code - 1];
    }

    /** Returns the largest path MTU of at most {@code bytes}, or {@link #MTU_256} if there is none. */
    public static PathMtu atMost(int bytes) {
        PathMtu best = MTU_256;
        for (PathMtu mtu : BY_CODE) {
            if (mtu.bytes() <= bytes) {
                best = mtu;
            }
        }
        return best;
    }
}
