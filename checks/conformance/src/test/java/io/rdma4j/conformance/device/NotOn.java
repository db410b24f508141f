package io.rdma4j.conformance.device;

import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Skips a test on devices of a driver that is known to differ from what the test requires.
 *
 * <p>A feature that a device reports or refuses is a {@link Capability}. This annotation is for a difference that the
 * device does not tell. It never names {@link Driver#SOFTWARE}.
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Repeatable(NotOn.Several.class)
@ExtendWith(NotOnCondition.class)
public @interface NotOn {
    /** Returns the drivers. */
    Driver[] value();

    /** Returns the behaviour of the drivers, as the predicate of a sentence. */
    String because();

    /** Several differences of one test. */
    @Target({ElementType.METHOD, ElementType.TYPE})
    @Retention(RetentionPolicy.RUNTIME)
    @ExtendWith(NotOnCondition.class)
    @interface Several {
        /** Returns the differences. */
        NotOn[] value();
    }
}
