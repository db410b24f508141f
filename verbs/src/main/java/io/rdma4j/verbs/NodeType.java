package io.rdma4j.verbs;

/** What a device is. C: {@code enum ibv_node_type}, with the texts of {@code ibv_node_type_str}. */
public enum NodeType {
    /** A host's adapter of InfiniBand or RoCE. */
    CHANNEL_ADAPTER(1, "InfiniBand channel adapter"),
    /** A switch. */
    SWITCH(2, "InfiniBand switch"),
    /** A router. */
    ROUTER(3, "InfiniBand router"),
    /** A host's adapter of iWARP. */
    RDMA_NETWORK_ADAPTER(4, "iWARP NIC");

    private final int code;
    private final String text;

    NodeType(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /** The number of {@code ibv_node_type}. */
    public int code() {
        return code;
    }

    /** A few words for people. */
    public String text() {
        return text;
    }
}
