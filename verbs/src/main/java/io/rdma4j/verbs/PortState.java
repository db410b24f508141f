package io.rdma4j.verbs;

/** State of a port. C: {@code enum ibv_port_state}, with the texts of {@code ibv_port_state_str}. */
public enum PortState {
    /** Nothing is known. */
    NO_STATE_CHANGE(0, "no state change (NOP)"),
    /** The network interface is down or has no carrier. */
    DOWN(1, "down"),
    /** The link is up, its configuration is not. */
    INIT(2, "init"),
    /** Configured, not in use. */
    ARMED(3, "armed"),
    /** Works. */
    ACTIVE(4, "active"),
    /** Active, with the physical link just broken. */
    ACTIVE_DEFER(5, "active defer");

    private final int code;
    private final String text;

    PortState(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /** Returns the numeric value of {@code ibv_port_state}. */
    public int code() {
        return code;
    }

    /** Returns a short description for users. */
    public String text() {
        return text;
    }
}
