package io.rdma4j.soft.options;

import java.time.Duration;

/** The time after which an idle connection to an rdma4j peer on another host is probed. */
public final class KeepAliveOption {
    /** System property with a number of seconds, or {@code off}. */
    public static final String PROPERTY = "rdma4j.keep-alive";

    /** The time if the property is not set. */
    public static final Duration DEFAULT = Duration.ofSeconds(60);

    private static final int MAX_SECONDS = 365 * 24 * 3600;

    private KeepAliveOption() {}

    /**
     * Returns the time that the system property {@value #PROPERTY} sets, {@link Duration#ZERO} for {@code off}.
     *
     * @throws IllegalArgumentException if it is neither {@code off} nor a number from 1 to the number of seconds in a year
     */
    public static Duration fromSystemProperty() {
        String text = System.getProperty(PROPERTY);
        if (text == null) {
            return DEFAULT;
        }
        if (text.equals("off")) {
            return Duration.ZERO;
        }
        if (!text.matches("[0-9]{1,8}") || Integer.parseInt(text) < 1 || Integer.parseInt(text) > MAX_SECONDS) {
            throw new IllegalArgumentException("system property " + PROPERTY + ": \"" + text
                    + "\" is neither off nor a number of seconds from 1 to " + MAX_SECONDS);
        }
        return Duration.ofSeconds(Integer.parseInt(text));
    }
}
