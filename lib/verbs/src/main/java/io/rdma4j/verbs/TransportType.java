package io.rdma4j.verbs;

/** The protocol of a device. C: {@code enum ibv_transport_type}. */
public enum TransportType {
    /** The InfiniBand transport, including RoCE on Ethernet. */
    INFINIBAND(0, "InfiniBand"),
    /** RDMA over TCP. */
    IWARP(1, "iWARP");

    private final int code;
    private final String text;

    TransportType(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /** Returns the numeric value of {@code ibv_transport_type}. */
    public int code() {
        return code;
    }

    /** Returns the name that {@code ibv_devinfo} prints. */
    public String text() {
        return text;
    }
}
