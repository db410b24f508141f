package io.rdma4j.testkit.junit;

import io.rdma4j.testkit.ConnectedPair;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Names the hosts of a parameter of type {@link ConnectedPair}, and the size of its memory. */
@Documented
@Target({ElementType.PARAMETER, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
public @interface Connect {
    /** The name of the host that requests the connection; the first host if it is empty. */
    String from() default "";

    /**
     * The name of the host that accepts the connection; the second host if it is empty, or the first if there is no
     * other.
     */
    String to() default "";

    /** The size of the registered memory of each end, in bytes. */
    long memoryBytes() default ConnectedPair.DEFAULT_MEMORY_BYTES;
}
