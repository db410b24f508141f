package io.rdma4j.sockets;

import io.rdma4j.sockets.options.AddressRules;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;

/**
 * A process that exchanges a byte over RDMA and another over TCP, in a Java runtime that may lack modules. It prints a
 * line for each. The first argument selects the provider: {@code own}, or {@code jvm} for the JVM's provider. With the
 * second argument, {@code selector}, it also prints the class of the selector at which the device waits.
 */
public final class LimitedModulesProcess {
    private static final long PATIENCE_MILLIS = 20_000;

    private LimitedModulesProcess() {}

    /** Runs the process. */
    public static void main(String[] arguments) {
        for (String host : new String[] {"127.0.0.1", "::1"}) {
            for (String transport : new String[] {"rdma", "tcp"}) {
                System.setProperty(AddressRules.PROPERTY, "*=" + transport);
                SelectorProvider provider =
                        arguments[0].equals("jvm") ? SelectorProvider.provider() : new RdmaSelectorProvider();
                System.out.println(host + " " + transport + ": " + exchange(provider, host));
            }
        }
        if (arguments.length > 1) {
            System.out.println("device waits at a selector " + selectorOfDevice());
        }
    }

    /** Waits until a thread of the device waits at a selector, and returns the selector's class. */
    private static String selectorOfDevice() {
        while (true) {
            for (StackTraceElement[] stack : Thread.getAllStackTraces().values()) {
                for (int i = 1; i < stack.length; i++) {
                    if (stack[i].getClassName().endsWith("NioLinkSet")
                            && stack[i - 1].getMethodName().equals("select")) {
                        List<StackTraceElement> inside = Arrays.asList(stack).subList(0, i);
                        return inside.stream()
                                        .anyMatch(each -> each.getClassName().contains("RdmaSelector"))
                                ? "of RDMA sockets"
                                : "of the platform";
                    }
                }
            }
            LockSupport.parkNanos(1_000_000);
        }
    }

    private static String exchange(SelectorProvider provider, String host) {
        try (ServerSocketChannel listener = provider.openServerSocketChannel();
                SocketChannel client = provider.openSocketChannel();
                Selector selector = provider.openSelector()) {
            listener.bind(new InetSocketAddress(InetAddress.ofLiteral(host), 0));
            client.connect(Objects.requireNonNull(listener.getLocalAddress()));
            try (SocketChannel accepted = Objects.requireNonNull(listener.accept())) {
                client.configureBlocking(false).register(selector, SelectionKey.OP_READ);
                accepted.write(ByteBuffer.wrap(new byte[] {42}));
                selector.select(PATIENCE_MILLIS);
                ByteBuffer read = ByteBuffer.allocate(1);
                client.read(read);
                return "read " + read.get(0);
            }
        } catch (IOException | RuntimeException | LinkageError failed) {
            return failed.toString();
        }
    }
}
