package io.rdma4j.tools;

import java.net.InetAddress;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/** Where the tests have the two sides of a tool meet, and sides that are processes of their own. */
public final class Meeting {
    private static final int FIRST_PORT = 20_000;
    private static final int PORTS = 10_000;
    private static final AtomicInteger NEXT_PORT =
            new AtomicInteger(ThreadLocalRandom.current().nextInt(PORTS));

    private Meeting() {}

    /** A port that no other test of this process has, and hardly anybody else; servers that never end keep theirs. */
    public static int portNumber() {
        return FIRST_PORT + NEXT_PORT.getAndIncrement() % PORTS;
    }

    /** The same as words of a command line. */
    public static String port() {
        return " -p " + portNumber();
    }

    /** A loopback address for one test. */
    public static String loopback() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return String.format(
                Locale.ROOT, "127.%d.%d.%d", random.nextInt(1, 255), random.nextInt(256), random.nextInt(1, 255));
    }

    /** An address of an interface as a tool takes it: getaddrinfo knows a scope of link-local addresses only. */
    public static String text(InetAddress address) {
        String text = address.getHostAddress();
        int scope = text.indexOf('%');
        return scope < 0 || address.isLinkLocalAddress() ? text : text.substring(0, scope);
    }

    /**
     * Starts a tool in a process of its own, which the options of every tool need.
     *
     * @param words its name and its arguments
     * @param lines get what it prints
     */
    public static ToolProcess process(String words, List<String> lines) {
        return process(words, lines, lines);
    }

    /** The same, standard output and standard error apart. */
    public static ToolProcess process(String words, List<String> out, List<String> err) {
        return ToolProcess.start(List.of(words.strip().split(" +")), out::add, err::add);
    }

    /** Waits until a line has come that contains a text. */
    public static void await(List<String> lines, String text) throws InterruptedException {
        for (int i = 0; i < 2000 && lines.stream().noneMatch(line -> line.contains(text)); i++) {
            Thread.sleep(10);
        }
    }
}
