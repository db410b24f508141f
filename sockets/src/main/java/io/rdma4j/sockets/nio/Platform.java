package io.rdma4j.sockets.nio;

import java.lang.reflect.Constructor;
import java.nio.channels.spi.SelectorProvider;

/**
 * The selector provider of the platform, which creates pipes, datagram channels and TCP channels.
 *
 * <p>If RDMA channels are the JVM's default ({@code -Djava.nio.channels.spi.SelectorProvider}), no public method
 * returns the platform's provider: {@link SelectorProvider#provider} returns this library's. The platform's provider is
 * stateless, so another instance is equivalent. The factory that serialization libraries use creates it without a
 * command-line flag.
 */
public final class Platform {
    /** By name, since the package of that class uses this one. */
    private static final String RDMA_PROVIDER = "io.rdma4j.sockets.RdmaSelectorProvider";

    private static final class Holder {
        private static final SelectorProvider INSTANCE = find();
    }

    private Platform() {}

    /** Returns the platform's provider. */
    public static SelectorProvider provider() {
        return Holder.INSTANCE;
    }

    private static SelectorProvider find() {
        SelectorProvider ofJvm = SelectorProvider.provider();
        return ofJvm.getClass().getName().equals(RDMA_PROVIDER) ? create() : ofJvm;
    }

    private static SelectorProvider create() {
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
                    "No selector provider of the platform: " + name + " cannot be created on " + system
                            + ". Use RdmaSockets or new RdmaSelectorProvider() per channel, instead of"
                            + " -Djava.nio.channels.spi.SelectorProvider",
                    missing);
        }
    }
}
