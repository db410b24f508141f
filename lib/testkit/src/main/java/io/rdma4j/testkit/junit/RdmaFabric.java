package io.rdma4j.testkit.junit;

import io.rdma4j.testkit.TestNetwork;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives each test a separate network in memory. Each of its hosts has a software RDMA device.
 *
 * {@snippet :
 * @RdmaFabric(loss = "5%")
 * class ReplicationTest {
 *     @Test
 *     void bytesArrive(ConnectedPair pair) {
 *         pair.client().memory().setString(0, "hello");
 *         pair.client().connection().write(pair.client().buffer(), pair.server().remote());
 *         assertEquals("hello", pair.server().memory().getString(0));
 *     }
 * }
 * }
 *
 * <p>Parameters of test methods, of {@code @BeforeEach} and {@code @AfterEach} methods, and of the constructor of a
 * class with an instance for each method, may have these types:
 *
 * <ul>
 *   <li>{@link TestNetwork}: the network of the test
 *   <li>{@link io.rdma4j.testkit.TestHost}, {@link io.rdma4j.soft.SoftStack}, {@link io.rdma4j.verbs.Device}, {@link
 *       io.rdma4j.cm.ConnectionManager}: a host or one of its parts, selected by {@link Host} or by the order of the
 *       parameters of one type
 *   <li>{@link io.rdma4j.testkit.ConnectedPair}: a connection between the first two hosts, or between the hosts of
 *       {@link Connect}; each parameter is a separate connection
 *   <li>{@link io.rdma4j.testkit.VirtualTime}: the clock, if the time is {@link FabricTime#VIRTUAL}
 * </ul>
 *
 * <p>A test fails if it leaves objects of the stacks open, such as registered memory and queue pairs, or threads
 * running; the failure names the place where each was created. A test that fails for any reason prints the seed, the
 * last packets, and the path of a capture for Wireshark. {@link RdmaFabricExtension} lists the properties.
 *
 * <p>The annotation may be on a class, where it applies to all its tests, including those of subclasses and nested
 * classes; on a method, where it replaces the annotation of the class; and on other annotations. Tests may run in
 * parallel. No port, file or privilege of the host is used.
 */
@Documented
@Inherited
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(RdmaFabricExtension.class)
public @interface RdmaFabric {
    /**
     * The names of the hosts; if there are none, {@link #hostCount} hosts are called {@code host1}, {@code host2}, and
     * so on.
     */
    String[] hosts() default {};

    /** The number of hosts, 1 to 250, if {@link #hosts} is empty. */
    int hostCount() default 2;

    /**
     * True for hosts with the IPv6 addresses {@code fd00::1}, {@code fd00::2}, …; otherwise they have {@code 10.0.0.1},
     * {@code 10.0.0.2}, ….
     */
    boolean ipv6() default false;

    /** The maximum size of an IP packet in bytes, at least 576. */
    int mtuBytes() default TestNetwork.DEFAULT_MTU_BYTES;

    /**
     * The rate of the link of each host in each direction, such as {@code 10Gbit}, {@code 250Mbit}; no limit if it is
     * empty.
     */
    String linkSpeed() default "";

    /** The fraction of packets that the network loses, such as {@code 5%} or {@code 0.05}. */
    String loss() default "";

    /** The time that each packet takes, such as {@code 100us}, {@code 5ms}. */
    String delay() default "";

    /** The fraction of packets that arrive after 1 to 8 later packets, such as {@code 1%}. */
    String reordering() default "";

    /** The fraction of packets that arrive twice, such as {@code 1%}. */
    String duplication() default "";

    /** The fraction of packets in which the network flips a bit, such as {@code 0.1%}. */
    String corruption() default "";

    /**
     * The seed of the faults, and of all keys, identifiers and sequence numbers of the stacks; 0 for a new one in each
     * run. The property {@value RdmaFabricExtension#SEED_PROPERTY} replaces it.
     */
    long seed() default 0;

    /** The passage of time. */
    FabricTime time() default FabricTime.REAL;

    /** False if the test may leave objects open and threads running. */
    boolean checkLeaks() default true;
}
