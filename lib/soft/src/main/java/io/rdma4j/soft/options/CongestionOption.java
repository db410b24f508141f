package io.rdma4j.soft.options;

import java.util.Locale;

/** Determines when the packets of connections may be marked by congested routers (ECN, RFC 3168) instead of dropped. */
public enum CongestionOption {
    /**
     * If the peer runs rdma4j on a system where it sees marks, or has itself sent such packets or a congestion notification, like
     * a network card.
     */
    AUTO,
    /** Always. */
    ON,
    /** Never. Marks of the peer's packets are still reported to the peer, and its reports are obeyed. */
    OFF;

    /** System property with the name of an option in lower case. */
    public static final String PROPERTY = "rdma4j.ecn";

    /**
     * Returns the option that the system property {@value #PROPERTY} specifies, {@link #AUTO} if it is not set.
     *
     * @throws IllegalArgumentException if its value is not an option
     */
    public static CongestionOption fromSystemProperty() {
        String text = System.getProperty(PROPERTY, "auto");
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "auto" -> AUTO;
            case "on" -> ON;
            case "off" -> OFF;
            default ->
                throw new IllegalArgumentException(
                        "system property " + PROPERTY + ": \"" + text + "\" is not auto, on or off");
        };
    }
}
