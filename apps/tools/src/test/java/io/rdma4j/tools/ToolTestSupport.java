package io.rdma4j.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.rdma4j.tools.command.ToolProcess;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/** Addresses and ports for the two sides of a tool in a test, and tools in separate processes. */
public final class ToolTestSupport {
    private static final int PORTS = 5_000;

    /** The two processes of Surefire, which are numbered from 1, have different ports. */
    private static final int FIRST_PORT = 20_000 + PORTS * (Integer.getInteger("rdma4j.test.process", 1) - 1);

    private static final AtomicInteger NEXT_PORT =
            new AtomicInteger(ThreadLocalRandom.current().nextInt(PORTS));

    private ToolTestSupport() {}

    /** Returns a port that no other test uses. Servers that never end keep their ports. */
    public static int portNumber() {
        return FIRST_PORT + NEXT_PORT.getAndIncrement() % PORTS;
    }

    /** Returns a {@link #portNumber} as an option of a command line. */
    public static String port() {
        return " -p " + portNumber();
    }

    /** Returns a random loopback address for one test. */
    public static String loopback() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return String.format(
                Locale.ROOT, "127.%d.%d.%d", random.nextInt(1, 255), random.nextInt(256), random.nextInt(1, 255));
    }

    /** Formats an interface's address for a tool: getaddrinfo accepts a scope only for link-local addresses. */
    public static String text(InetAddress address) {
        String text = address.getHostAddress();
        int scope = text.indexOf('%');
        return scope < 0 || address.isLinkLocalAddress() ? text : text.substring(0, scope);
    }

    /**
     * Starts a tool in a separate process, which the common options require.
     *
     * @param words the name of the tool and its arguments
     * @param lines receives the lines of its output
     */
    public static ToolProcess process(String words, List<String> lines) {
        return process(words, lines, lines);
    }

    /** Starts a tool in a separate process, with separate lists for standard output and standard error. */
    public static ToolProcess process(String words, List<String> out, List<String> err) {
        return ToolProcess.start(List.of(words.strip().split(" +")), out::add, err::add);
    }

    /**
     * Waits until a process has bound a UDP port, or has ended. Until then the kernel refuses datagrams. The probing
     * datagrams are too short to be messages.
     */
    public static void awaitUdpPort(ToolProcess process, String address, int port)
            throws IOException, InterruptedException {
        InetAddress host = InetAddress.ofLiteral(address);
        byte[] data = {'?'};
        while (process.isAlive()) {
            try (DatagramSocket probe = new DatagramSocket(new InetSocketAddress(host, 0))) {
                probe.connect(host, port);
                probe.send(new DatagramPacket(data, data.length));
                Thread.sleep(20);
                probe.send(new DatagramPacket(data, data.length));
                return;
            } catch (PortUnreachableException notYetBound) {
                // The loop sends another probe.
            }
        }
    }

    /**
     * Skips a test that sends SIGINT if this process ignores it. A process that a script starts in the background
     * ignores it, and so do its children.
     */
    public static void requireSigint() throws IOException {
        Path status = Path.of("/proc/self/status");
        if (Files.exists(status)) {
            for (String line : Files.readAllLines(status)) {
                boolean isIgnored = line.startsWith("SigIgn:")
                        && (Long.parseUnsignedLong(line.substring(7).strip(), 16) & 2) != 0;
                assumeFalse(isIgnored, "this process ignores SIGINT");
            }
        }
    }

    /** Sends SIGINT to a process. */
    public static void interrupt(ToolProcess process) throws IOException, InterruptedException {
        Process kill = new ProcessBuilder("kill", "-INT", String.valueOf(process.pid())).start();
        assertThat(kill.waitFor()).isZero();
    }

    /** Waits until a line contains {@code text}. */
    public static void await(List<String> lines, String text) throws InterruptedException {
        for (int i = 0; i < 2000 && lines.stream().noneMatch(line -> line.contains(text)); i++) {
            Thread.sleep(10);
        }
    }
}
