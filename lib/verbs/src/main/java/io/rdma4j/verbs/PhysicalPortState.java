package io.rdma4j.verbs;

/** The state of the physical link of a port, as InfiniBand defines it. C: {@code ibv_port_attr.phys_state}. */
public enum PhysicalPortState {
    /** The state is unknown, or there is no link. */
    NONE(0, "invalid physical state"),
    /** The port is in sleep mode. */
    SLEEP(1, "SLEEP"),
    /** The port is searching for a link. */
    POLLING(2, "POLLING"),
    /** The port is disabled, or its network interface is down. */
    DISABLED(3, "DISABLED"),
    /** The port is configuring the link. */
    TRAINING(4, "PORT_CONFIGURATION TRAINNING"),
    /** The link is up. */
    LINK_UP(5, "LINK_UP"),
    /** The port is repairing the link after an error. */
    ERROR_RECOVERY(6, "LINK_ERROR_RECOVERY"),
    /** The port is in a test mode. */
    PHYSICAL_TEST(7, "PHY TEST");

    private final int code;
    private final String text;

    PhysicalPortState(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /** Returns the numeric value of {@code ibv_port_attr.phys_state}. */
    public int code() {
        return code;
    }

    /** Returns the name that {@code ibv_devinfo} prints, with its spelling. */
    public String text() {
        return text;
    }
}
