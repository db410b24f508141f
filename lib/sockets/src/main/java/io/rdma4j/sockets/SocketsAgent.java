package io.rdma4j.sockets;

import io.rdma4j.sockets.io.ConnectionService;
import io.rdma4j.sockets.net.DeferredSocketImpl;
import io.rdma4j.sockets.options.AddressRules;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.nio.channels.spi.SelectorProvider;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A Java agent that lets the sockets and channels of a whole virtual machine use RDMA. {@code rdma4j run} starts it:
 * <pre>java -javaagent:rdma4j-agent.jar -jar program.jar</pre>
 *
 * <p>It sets the properties {@code java.nio.channels.spi.SelectorProvider} and
 * {@code java.nio.channels.spi.AsynchronousChannelProvider}, unless the command line sets them, and installs the
 * factories of {@link Socket} and {@link ServerSocket}. The rules of {@link AddressRules#PROPERTY} choose between RDMA
 * and TCP. Sockets over TCP are the platform's. One difference remains: if system properties name a SOCKS proxy,
 * {@code new Socket(Proxy.NO_PROXY)} also uses it over TCP.
 */
public final class SocketsAgent {
    private static final String SELECTOR_PROVIDER = "java.nio.channels.spi.SelectorProvider";

    private static final String ASYNCHRONOUS_PROVIDER = "java.nio.channels.spi.AsynchronousChannelProvider";

    private static final AtomicBoolean INSTALLED = new AtomicBoolean();

    private SocketsAgent() {}

    /**
     * Installs the providers. The virtual machine calls this before the program's main method.
     *
     * @param arguments not used
     * @throws IllegalArgumentException if the rules are malformed
     */
    public static void premain(@Nullable String arguments, Instrumentation instrumentation) {
        if (INSTALLED.getAndSet(true)) {
            return; // a program that "rdma4j run" starts may itself use "rdma4j run"
        }
        AddressRules rules = AddressRules.ofJvm(); // a malformed rule is reported at the start
        setUnlessSet(SELECTOR_PROVIDER, RdmaSelectorProvider.class);
        setUnlessSet(ASYNCHRONOUS_PROVIDER, RdmaAsynchronousChannelProvider.class);
        requireProviders(instrumentation);
        openJavaNet(instrumentation);
        installSockets(rules);
    }

    /**
     * Checks that the virtual machine uses the providers that the properties name. It chooses them when the first
     * channel is opened, and an earlier agent may have opened one.
     *
     * @throws IllegalStateException if it uses another provider
     */
    private static void requireProviders(Instrumentation instrumentation) {
        for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
            if (loaded.getName().equals(SELECTOR_PROVIDER + "$Holder")) {
                requireProvider(SELECTOR_PROVIDER, SelectorProvider.provider());
            } else if (loaded.getName().equals(ASYNCHRONOUS_PROVIDER + "$ProviderHolder")) {
                requireProvider(ASYNCHRONOUS_PROVIDER, AsynchronousChannelProvider.provider());
            }
        }
    }

    private static void requireProvider(String property, Object chosen) {
        String wanted = System.getProperty(property);
        if (!chosen.getClass().getName().equals(wanted)) {
            throw new IllegalStateException(
                    "another agent has opened a channel before this one, so that all channels would use "
                            + chosen.getClass().getName() + ". Name this agent first: rdma4j run does that for"
                            + " JDK_JAVA_OPTIONS, but Java reads JAVA_TOOL_OPTIONS before");
        }
    }

    /** Opens the package java.net to this module, for the sockets of the platform. */
    private static void openJavaNet(Instrumentation instrumentation) {
        instrumentation.redefineModule(
                Socket.class.getModule(),
                Set.of(),
                Map.of(),
                Map.of(Socket.class.getPackageName(), Set.of(SocketsAgent.class.getModule())),
                Set.of(),
                Map.of());
    }

    @SuppressWarnings("deprecation") // Java has no other way to replace the sockets of an unmodified program
    private static void installSockets(AddressRules rules) {
        ConnectionService service = ConnectionService.ofProcess();
        try {
            Socket.setSocketImplFactory(() -> new DeferredSocketImpl(service, rules, false));
            ServerSocket.setSocketFactory(() -> new DeferredSocketImpl(service, rules, true));
        } catch (IOException taken) {
            throw new IllegalStateException(
                    "Another agent has installed socket factories (" + taken.getMessage()
                            + "): blocking sockets cannot use RDMA together with it",
                    taken);
        }
    }

    private static void setUnlessSet(String property, Class<?> provider) {
        if (System.getProperty(property) == null) {
            System.setProperty(property, provider.getName());
        }
    }
}
