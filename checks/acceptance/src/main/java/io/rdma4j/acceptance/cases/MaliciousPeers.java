package io.rdma4j.acceptance.cases;

import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.process.Child;
import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
import io.rdma4j.acceptance.traffic.HostilePeer;
import io.rdma4j.acceptance.traffic.HostileResponder;
import io.rdma4j.acceptance.traffic.HostileServer;
import io.rdma4j.acceptance.traffic.StreamScripts;
import io.rdma4j.sockets.RdmaSockets;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Peers of the upper layers violate the protocol by scripts. They are clients of an RDMA socket ({@link
 * StreamScripts}), servers of one ({@link HostileServer}), and responders to a READ ({@link HostileResponder}).
 *
 * <p>The victim only notices broken connections, serves a correct client after each script, and uses no additional
 * memory in the end.
 */
public final class MaliciousPeers implements AcceptanceTest.Body {
    private static final Duration STEP = Duration.ofSeconds(30);
    private static final String VICTIM = "127.0.0.1";
    private static final String ATTACKER = "127.0.0.2";
    private static final int WARM_UP = 30;
    private static final long MAX_HEAP_BYTES = 2 << 20;
    private static final long MAX_RESIDENT_BYTES = 32L << 20;

    private static int scripts() {
        return StreamScripts.all().size()
                + HostileServer.scripts().size()
                + HostileResponder.scripts().size();
    }

    @Override
    public String required(Scale scale) {
        return "%d scripts%s: connection errors only, nothing out of bounds, memory flat"
                .formatted(scripts(), scale == Scale.FULL ? ", 10 times" : "");
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        // The whole heap is resident from the beginning, so growth of the resident memory is outside the heap.
        Child victim = Child.builder(stage, "victim", Victim.class)
                .options("-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch")
                .start();
        int port = victim.await("port", STEP).asInt();
        Child attacker = Child.builder(stage, "attacker", Attacker.class)
                .with("port", port)
                .start();
        int attackerPort = attacker.await("port", STEP).asInt();
        for (int i = 0; i < WARM_UP; i++) { // loads classes
            victim.ask("echo", "echo", STEP);
        }
        String wrong = "";
        long heap = -victim.ask("heap", "heap", STEP).asLong();
        long resident = -residentBytes(victim);
        int rounds = stage.scale().of(1, 10);
        for (int i = 0; i < rounds && wrong.isEmpty(); i++) {
            wrong = round(stage, victim, attacker, attackerPort);
        }
        heap += victim.ask("heap", "heap", STEP).asLong();
        resident += residentBytes(victim);
        long exceptions = Files.readAllLines(stage.folder().resolve("victim.err")).stream()
                .filter(line -> line.startsWith("\tat "))
                .count();
        return Outcome.of(
                wrong.isEmpty() && exceptions == 0 && heap <= MAX_HEAP_BYTES && resident <= MAX_RESIDENT_BYTES,
                "%s; %s; heap %+d KiB, resident %+d KiB in %d rounds"
                        .formatted(
                                wrong.isEmpty() ? scripts() + " scripts, connection errors only" : "wrong: " + wrong,
                                exceptions == 0 ? "no exception in the log" : "exceptions in the log",
                                heap >> 10,
                                resident >> 10,
                                rounds));
    }

    private static long residentBytes(Child child) throws IOException {
        String line = Files.readAllLines(java.nio.file.Path.of("/proc", Long.toString(child.pid()), "status")).stream()
                .filter(each -> each.startsWith("VmRSS:"))
                .findFirst()
                .orElseThrow();
        return Long.parseLong(line.replaceAll("\\D", "")) << 10;
    }

    /** Runs every script once. Returns the first error, or an empty string. */
    private static String round(TestStage stage, Child victim, Child attacker, int attackerPort)
            throws IOException, InterruptedException {
        for (int i = 0; i < StreamScripts.all().size(); i++) {
            String name = StreamScripts.all().get(i).name();
            stage.progress(name);
            attacker.ask("stream " + i, "done", STEP);
            String wrong = victim.ask("echo", "echo", STEP).asText();
            if (!wrong.isEmpty()) {
                return "after a peer that " + name + ": " + wrong;
            }
        }
        for (int i = 0; i < HostileServer.scripts().size(); i++) {
            String name = HostileServer.scripts().get(i).name();
            stage.progress(name);
            attacker.sendLine("serve " + i);
            String wrong = victim.ask("client " + attackerPort, "client", STEP).asText();
            attacker.ask("leave", "done", STEP);
            if (!wrong.isEmpty()) {
                return "client of a server that " + name + ": " + wrong;
            }
        }
        for (int i = 0; i < HostileResponder.scripts().size(); i++) {
            stage.progress(HostileResponder.scripts().get(i).name());
            String wrong = victim.ask("read " + i, "read", STEP).asText();
            if (!wrong.isEmpty()) {
                return wrong;
            }
        }
        return "";
    }

    /** Serves RDMA sockets by echoing data, and acts as a client on command. */
    public static final class Victim implements Role {
        private static final int MESSAGE_BYTES = 1000;
        private static final int TIMEOUT_MILLIS = 5000;

        private final Queue<String> wrong = new ConcurrentLinkedQueue<>();

        @Override
        public void run(Parent parent) throws IOException {
            try (ServerSocket server = RdmaSockets.openServerSocket(StandardProtocolFamily.INET);
                    HostileResponder responder = new HostileResponder()) {
                server.bind(new InetSocketAddress(InetAddress.ofLiteral(VICTIM), 0));
                Thread.ofPlatform().daemon().start(() -> serve(server));
                parent.report("port", server.getLocalPort());
                List<HostileResponder.Script> responderScripts = HostileResponder.scripts();
                while (true) {
                    String[] arguments = parent.nextCommand().split(" ", -1);
                    switch (arguments[0]) {
                        case "echo" -> parent.report("echo", echo(server.getLocalPort()));
                        case "client" -> parent.report("client", client(Integer.parseInt(arguments[1])));
                        case "read" ->
                            parent.report("read", responder.run(responderScripts.get(Integer.parseInt(arguments[1]))));
                        default -> parent.report("heap", heap());
                    }
                }
            }
        }

        private static long heap() {
            System.gc();
            return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        }

        private void serve(ServerSocket server) {
            while (true) {
                try {
                    Socket socket = server.accept();
                    Thread.ofPlatform().daemon().start(() -> echoAll(socket));
                } catch (IOException | RuntimeException e) {
                    wrong.add("accept: " + e);
                }
            }
        }

        private void echoAll(Socket socket) {
            byte[] bytes = new byte[65_536];
            try (socket) {
                socket.setSoTimeout(TIMEOUT_MILLIS);
                int count;
                while ((count = socket.getInputStream().read(bytes)) > 0) {
                    socket.getOutputStream().write(bytes, 0, count);
                }
            } catch (IOException e) {
                // Expected when the peer breaks the connection.
            } catch (RuntimeException e) {
                wrong.add("serving: " + e);
            }
        }

        /** Connects a correct client. Returns the errors of the server so far, or an empty string. */
        private String echo(int port) {
            byte[] message = new byte[MESSAGE_BYTES];
            Arrays.fill(message, (byte) port);
            try (Socket socket = RdmaSockets.openSocket(StandardProtocolFamily.INET)) {
                socket.setSoTimeout(TIMEOUT_MILLIS);
                socket.connect(new InetSocketAddress(InetAddress.ofLiteral(VICTIM), port), TIMEOUT_MILLIS);
                socket.getOutputStream().write(message);
                if (!Arrays.equals(socket.getInputStream().readNBytes(MESSAGE_BYTES), message)) {
                    wrong.add("a correct client receives wrong bytes");
                }
            } catch (IOException e) {
                wrong.add("a correct client fails: " + e);
            }
            return String.join("; ", wrong);
        }

        /** Connects to a hostile server. Returns what is wrong, or an empty string. */
        private static String client(int port) {
            try (Socket socket = RdmaSockets.openSocket(StandardProtocolFamily.INET)) {
                socket.setSoTimeout(TIMEOUT_MILLIS / 5);
                socket.connect(new InetSocketAddress(InetAddress.ofLiteral(ATTACKER), port), TIMEOUT_MILLIS);
                socket.getOutputStream().write(1);
                int value = socket.getInputStream().read();
                return value < 0 ? "" : "it reads " + value;
            } catch (IOException expected) {
                return "";
            }
        }
    }

    /** Runs the scripts of clients and servers. */
    public static final class Attacker implements Role {
        @Override
        public void run(Parent parent) throws Exception {
            InetSocketAddress source = new InetSocketAddress(InetAddress.ofLiteral(ATTACKER), 0);
            InetSocketAddress server =
                    new InetSocketAddress(InetAddress.ofLiteral(VICTIM), (int) parent.number("port", 0));
            List<StreamScripts.Script> clientScripts = StreamScripts.all();
            List<HostileServer.Script> serverScripts = HostileServer.scripts();
            try (HostileServer listener = new HostileServer(source)) {
                parent.report("port", listener.port());
                while (true) {
                    String[] arguments = parent.nextCommand().split(" ", -1);
                    int script = Integer.parseInt(arguments[1]);
                    if (arguments[0].equals("stream")) {
                        parent.report("done", runClient(source, server, clientScripts.get(script)));
                    } else {
                        try (AutoCloseable _ = listener.run(serverScripts.get(script))) {
                            String _ = parent.nextCommand();
                        }
                        parent.report("done", "");
                    }
                }
            }
        }

        private static String runClient(
                InetSocketAddress source, InetSocketAddress server, StreamScripts.Script script) {
            try (HostilePeer peer = new HostilePeer(source, server, script.change())) {
                script.actions().accept(peer);
                return "accepted";
            } catch (RdmaException refused) {
                return "refused: " + refused.getMessage();
            }
        }
    }
}
