package io.rdma4j.sockets.nio;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.nio.channels.spi.SelectorProvider;
import org.jspecify.annotations.Nullable;

/**
 * The selector provider of the platform, which creates pipes, datagram channels and TCP channels.
 *
 * <p>If RDMA channels are the JVM's default ({@code -Djava.nio.channels.spi.SelectorProvider}), no public method
 * returns the platform's provider: {@link SelectorProvider#provider} returns this library's. The platform's provider is
 * stateless, so another instance is equivalent. {@code sun.reflect.ReflectionFactory}, which serialization libraries
 * use, creates it without a command-line flag. That class belongs to the module {@code jdk.unsupported}. A process
 * without this module can export the package of the platform's provider instead:
 * {@code --add-exports java.base/sun.nio.ch=ALL-UNNAMED}.
 */
public final class Platform {
    /** The name of the class; its package depends on this one. */
    private static final String RDMA_PROVIDER = "io.rdma4j.sockets.RdmaSelectorProvider";

    private static volatile @Nullable SelectorProvider found;

    private Platform() {}

    /**
     * Returns the platform's provider.
     *
     * @throws IOException if the JVM's provider is this library's and the platform's cannot be created; the message
     *     describes how to start Java
     */
    public static SelectorProvider provider() throws IOException {
        SelectorProvider known = found;
        if (known == null) {
            SelectorProvider ofJvm = SelectorProvider.provider();
            known = ofJvm.getClass().getName().equals(RDMA_PROVIDER) ? create() : ofJvm;
            found = known;
        }
        return known;
    }

    private static SelectorProvider create() throws IOException {
        try {
            Class<?> platform = Class.forName("sun.nio.ch.DefaultSelectorProvider");
            boolean exported = platform.getModule().isExported(platform.getPackageName(), Platform.class.getModule());
            return (SelectorProvider) (exported ? platform.getMethod("get").invoke(null) : instantiate());
        } catch (ReflectiveOperationException | RuntimeException missing) {
            throw new IOException(
                    "Cannot create the platform's selector provider, which opens TCP and datagram channels and pipes ("
                            + missing
                            + "). Start Java with --add-modules jdk.unsupported, or use RdmaSockets or new"
                            + " RdmaSelectorProvider() per channel, instead of"
                            + " -Djava.nio.channels.spi.SelectorProvider",
                    missing);
        }
    }

    private static Object instantiate() throws ReflectiveOperationException {
        String system = System.getProperty("os.name", "");
        String name = "sun.nio.ch."
                + switch (system) {
                    case "Linux" -> "EPoll";
                    case "AIX" -> "Poll";
                    default -> system.startsWith("Windows") ? "WEPoll" : "KQueue";
                }
                + "SelectorProvider";
        Class<?> factory = Class.forName("sun.reflect.ReflectionFactory");
        Object instance = factory.getMethod("getReflectionFactory").invoke(null);
        Constructor<?> constructor =
                (Constructor<?>) factory.getMethod("newConstructorForSerialization", Class.class, Constructor.class)
                        .invoke(instance, Class.forName(name), Object.class.getDeclaredConstructor());
        return constructor.newInstance();
    }
}
