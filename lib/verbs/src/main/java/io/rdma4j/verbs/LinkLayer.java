package io.rdma4j.verbs;

/** The kind of link of a port. C: the constants {@code IBV_LINK_LAYER}. */
public enum LinkLayer {
    /** The device does not report it. */
    UNSPECIFIED(0, "Unspecified"),
    /** InfiniBand, with local identifiers and a subnet manager. */
    INFINIBAND(1, "InfiniBand"),
    /** Ethernet: RoCE and iWARP. */
    ETHERNET(2, "Ethernet");

    private final int code;
    private final String text;

    LinkLayer(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /** Returns the numeric value of {@code ibv_port_attr.link_layer}. */
    public int code() {
        return code;
    }

    /** Returns a short name for users. */
    public String text() {
        return text;
    }
}
