package io.rdma4j.verbs;

/** The state of a port. C: {@code enum ibv_port_state}, with the texts of {@code ibv_port_state_str}. */
public enum PortState {
    /** The state is unknown. */
    NO_STATE_CHANGE(0, "no state change (NOP)"),
    /** The network interface is down or has no carrier. */
    DOWN(1, "down"),
    /** The link is up but not configured. */
    INIT(2, "init"),
    /** The link is configured but not in use. */
    ARMED(3, "armed"),
    /** The port is operational. */
    ACTIVE(4, "active"),
    /** The port was active, and its physical link has failed temporarily. */
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
