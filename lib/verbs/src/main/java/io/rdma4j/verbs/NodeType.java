package io.rdma4j.verbs;

/** The type of a device. C: {@code enum ibv_node_type}, with the texts of {@code ibv_node_type_str}. */
public enum NodeType {
    /** An InfiniBand or RoCE adapter of a host. */
    CHANNEL_ADAPTER(1, "InfiniBand channel adapter"),
    /** A switch. */
    SWITCH(2, "InfiniBand switch"),
    /** A router. */
    ROUTER(3, "InfiniBand router"),
    /** An iWARP adapter of a host. */
    RDMA_NETWORK_ADAPTER(4, "iWARP NIC");

    private final int code;
    private final String text;

    NodeType(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /** Returns the numeric value of {@code ibv_node_type}. */
    public int code() {
        return code;
    }

    /** Returns a short description for users. */
    public String text() {
        return text;
    }
}
