package io.rdma4j.sockets.nio;

import io.rdma4j.sockets.RdmaSelectorProvider;
import java.lang.reflect.Constructor;
import java.nio.channels.spi.SelectorProvider;

/**
 * The selector provider that the JVM would have had: it makes the pipes, datagram channels and TCP channels.
 *
 * <p>Where RDMA channels are the JVM's own choice ({@code -Djava.nio.channels.spi.SelectorProvider}), no public method
 * leads to the platform's provider any more: {@link SelectorProvider#provider} is then this library's. The platform's is
 * stateless, so an instance is as good as the JVM's; the factory that serialization libraries use makes it without
 * asking for a flag on the command line.
 */
public final class Platform {
    private static final class Holder {
        private static final SelectorProvider INSTANCE = find();
    }

    private Platform() {}

    /** It. */
    public static SelectorProvider provider() {
        return Holder.INSTANCE;
    }

    private static SelectorProvider find() {
        SelectorProvider ofJvm = SelectorProvider.provider();
        return ofJvm instanceof RdmaSelectorProvider ? make() : ofJvm;
    }

    private static SelectorProvider make() {
        String system = System.getProperty("os.name", "");
        String name = "sun.nio.ch."
                + switch (system) {
                    case "Linux" -> "EPoll";
                    case "AIX" -> "Poll";
                    default -> system.startsWith("Windows") ? "WEPoll" : "KQueue";
                }
                + "SelectorProvider";
        try {
            Class<?> type = Class.forName(name);
            Class<?> factory = Class.forName("sun.reflect.ReflectionFactory");
            Object instance = factory.getMethod("getReflectionFactory").invoke(null);
            Constructor<?> constructor =
                    (Constructor<?>) factory.getMethod("newConstructorForSerialization", Class.class, Constructor.class)
                            .invoke(instance, type, Object.class.getDeclaredConstructor());
            return (SelectorProvider) constructor.newInstance();
        } catch (ReflectiveOperationException | RuntimeException missing) {
            throw new IllegalStateException(
                    "No selector provider of the platform: " + name + " cannot be made on " + system
                            + ". Use RdmaSockets or new RdmaSelectorProvider() per channel, instead of"
                            + " -Djava.nio.channels.spi.SelectorProvider",
                    missing);
        }
    }
}
