package io.rdma4j.sockets;

import io.rdma4j.sockets.options.AddressRules;
import java.lang.instrument.Instrumentation;
import org.jspecify.annotations.Nullable;

/**
 * A Java agent that puts RDMA under the sockets and channels of a whole virtual machine. {@code rdma4j run} starts it:
 * <pre>java -javaagent:rdma4j-agent.jar -jar program.jar</pre>
 *
 * <p>It sets the property {@code java.nio.channels.spi.SelectorProvider}, unless the program's command line does. The
 * rules of {@link AddressRules#PROPERTY} choose between RDMA and TCP.
 */
public final class SocketsAgent {
    private static final String SELECTOR_PROVIDER = "java.nio.channels.spi.SelectorProvider";

    private SocketsAgent() {}

    /**
     * Installs the providers. The virtual machine calls this before the program's main method.
     *
     * @param arguments not used
     * @throws IllegalArgumentException if the rules are malformed
     */
    public static void premain(@Nullable String arguments, Instrumentation instrumentation) {
        AddressRules.ofJvm(); // a malformed rule is reported at the start, not at the first connection
        setUnlessSet(SELECTOR_PROVIDER, RdmaSelectorProvider.class);
    }

    private static void setUnlessSet(String property, Class<?> provider) {
        if (System.getProperty(property) == null) {
            System.setProperty(property, provider.getName());
        }
    }
}
