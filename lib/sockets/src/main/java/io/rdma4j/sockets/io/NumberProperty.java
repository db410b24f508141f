package io.rdma4j.sockets.io;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/** A system property that is a number in a range. */
final class NumberProperty {
    private NumberProperty() {}

    /**
     * Returns the value of a property, or the default if it is not set. Logs a warning if it is not a number in the
     * range.
     */
    static int read(String name, int byDefault, int least, int most) {
        return parse(name, System.getProperty(name), byDefault, least, most);
    }

    static int parse(String name, @Nullable String text, int byDefault, int least, int most) {
        if (text == null) {
            return byDefault;
        }
        try {
            int value = Integer.parseInt(text.strip());
            if (value >= least && value <= most) {
                return value;
            }
        } catch (NumberFormatException notNumeric) {
            // The warning below applies.
        }
        logger().log(
                        Level.WARNING,
                        "System property {0}={1} is ignored, and {2} is used: it must be a number from {3} to {4}",
                        name,
                        text,
                        Integer.toString(byDefault),
                        Integer.toString(least),
                        Integer.toString(most));
        return byDefault;
    }

    /** Looked up for each message: a logger in a field would set up logging before the program can configure it. */
    private static Logger logger() {
        return System.getLogger(NumberProperty.class.getName());
    }
}
