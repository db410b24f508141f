package io.rdma4j.testkit.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Selects the host of a parameter: a {@link io.rdma4j.testkit.TestHost}, {@link io.rdma4j.soft.SoftStack}, {@link
 * io.rdma4j.verbs.Device} or {@link io.rdma4j.cm.ConnectionManager}. Without it, the first parameter of each of these
 * types belongs to the first host, the second to the second host, and so on.
 */
@Documented
@Target({ElementType.PARAMETER, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
public @interface Host {
    /** The name of the host, one of {@link RdmaFabric#hosts}, or {@code host1}, {@code host2}, and so on. */
    String value();
}
