package io.rdma4j.tools.sockets;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.RoceCapture;
import io.rdma4j.tools.ToolRun;
import io.rdma4j.tools.ToolTestSupport;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.tools.command.ToolProcess;
import io.rdma4j.tools.command.WarmUp;
import io.rdma4j.wire.Opcode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of udpong with both sides in this process. */
@Timeout(60)
class UdpongTest {
    private static final String HEADER = UdpongClient.HEADER + "\n";

    private @Nullable ToolRun server;

    @AfterEach
    void endServer() throws InterruptedException {
        if (server != null) {
            server.interrupt();
            assertThat(server.status()).as(server.err()).isZero();
        }
    }

    /** Starts the server and checks that it has bound the port. */
    private void startServer(String words) throws InterruptedException {
        server = ToolRun.start(new Udpong(), words).awaitCall(UdpongServer.class, "receive");
        assertThat(server.hasEnded()).as(server.err()).isFalse();
    }

    private static String row(String beginning) {
        return beginning + " *[0-9]+\\.[0-9]{2}s +[0-9]+\\.[0-9]{2} +[0-9]+\\.[0-9]{2}\n";
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "-T n",
                "-T b",
                "-T a",
                "-T a -T b",
                "-B 4096",
                "-B 1",
                "-T s",
                "-T s -T b",
                "-T socket -T ASYNC"
            })
    void theClientPrintsTheRowOfItsTest(String words) throws InterruptedException {
        String address = ToolTestSupport.loopback();
        String rest = address + ToolTestSupport.port() + " " + words;
        startServer("-b " + rest);
        ToolRun echo = ToolRun.of(new Udpong(), "-C 200 -S 500 -T e -s " + rest);
        assertThat(echo.status()).as(echo.err()).isZero();
        assertThat(echo.out()).matches(HEADER + row("custom    500     400     195k"));
        ToolRun flood = ToolRun.of(new Udpong(), "-C 500 -s " + rest);
        assertThat(flood.status()).as(flood.err()).isZero();
        assertThat(flood.out()).matches(HEADER + row("custom    1000    [0-9]{1,3} +[0-9.]+k?"));
        String login = "client login from 127.0.0.1\n";
        assertThat(server).isNotNull().extracting(ToolRun::out).isEqualTo(login + login);
    }

    @ParameterizedTest
    @ValueSource(ints = {16, 17, 1016, 1017, 2032})
    void anySizeArrives(int size) throws InterruptedException {
        String rest = ToolTestSupport.loopback() + ToolTestSupport.port();
        startServer("-b " + rest);
        ToolRun client = ToolRun.of(new Udpong(), "-T e -C 20 -S " + size + " -s " + rest);
        assertThat(client.status()).as(client.err()).isZero();
        assertThat(client.out()).startsWith(HEADER + "custom    " + TransferFigures.sizeText(size));
    }

    @ParameterizedTest
    @CsvSource({"::1, ::1", "127.0.0.1, 127.0.0.1", "::1 -T s, ::1", "127.0.0.1 -T s, 127.0.0.1"})
    void aServerWithoutAddressListensOnAll(String to, String from) throws InterruptedException {
        String port = ToolTestSupport.port();
        startServer(port + (to.endsWith("-T s") ? " -T s" : ""));
        ToolRun client = ToolRun.of(new Udpong(), "-T e -C 20 -s " + to + port);
        assertThat(client.status()).as(client.err()).isZero();
        assertThat(server).isNotNull().extracting(ToolRun::out).isEqualTo("client login from " + from + "\n");
    }

    @Test
    void aClientCanBindAnAddress() throws InterruptedException {
        String local = ToolTestSupport.loopback();
        String rest = ToolTestSupport.loopback() + ToolTestSupport.port();
        startServer("-b " + rest);
        ToolRun client = ToolRun.of(new Udpong(), "-T e -C 20 -b " + local + " -s " + rest);
        assertThat(client.status()).as(client.err()).isZero();
        assertThat(server).isNotNull().extracting(ToolRun::out).isEqualTo("client login from " + local + "\n");
    }

    @Test
    void manyClientsAreServed() throws InterruptedException {
        String rest = ToolTestSupport.loopback() + ToolTestSupport.port();
        startServer("-b " + rest);
        List<ToolRun> clients = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            clients.add(ToolRun.start(new Udpong(), "-T e -C 100 -s " + rest));
        }
        for (ToolRun client : clients) {
            assertThat(client.status()).as(client.err()).isZero();
            assertThat(client.out()).matches(HEADER + row("custom    1000    200     195k"));
        }
    }

    /** Uses separate processes, which the common options need. */
    @Test
    void lostDatagramsAreRetransmitted(@TempDir Path folder) throws Exception {
        String address = ToolTestSupport.loopback();
        int portNumber = ToolTestSupport.portNumber();
        String port = " -p " + portNumber;
        String common = " --trace --fault loss=5%,seed=";
        Path capture = folder.resolve("client.pcapng");
        List<String> lines = new CopyOnWriteArrayList<>();
        List<String> report = new CopyOnWriteArrayList<>();
        List<String> trace = new CopyOnWriteArrayList<>();
        try (ToolProcess remote = ToolTestSupport.process("udpong -b " + address + port + common + "3", lines)) {
            ToolTestSupport.awaitUdpPort(remote, address, portNumber);
            String words = "udpong --json -T e -C 300 --pcap " + capture + " -s " + address + port + common + "4";
            try (ToolProcess client = ToolTestSupport.process(words, report, trace)) {
                assertThat(client.await(50)).as(trace.toString()).isZero();
            }
            assertThat(remote.isAlive()).as(lines.toString()).isTrue();
        }
        assertThat(String.join("", report))
                .contains("\"tool\": \"udpong\"", "\"name\": \"custom\"", "\"transfers\": 600", "\"status\": 0")
                .doesNotContain("\"repeated\": 0,");
        assertThat(trace).anyMatch(line -> line.contains("UD_SEND_ONLY"));
        RoceCapture packets = RoceCapture.read(capture);
        assertThat(packets.others()).isZero();
        assertThat(packets.bytes()).isGreaterThan(2 * 300 * 1000);
        assertThat(packets.opcodes()).containsKeys(Opcode.UD_SEND_ONLY.code());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-T s"})
    void aMissingServerIsReported(String words) throws InterruptedException {
        ToolRun client = ToolRun.of(
                new Udpong(), "-C 1 -s " + ToolTestSupport.loopback() + ToolTestSupport.port() + " " + words);
        assertThat(client.status()).isEqualTo(-1);
        assertThat(client.out()).isEqualTo(HEADER);
        assertThat(client.err()).startsWith("rrecv: Connection refused\n");
    }

    @Test
    void aServerThatExitsEndsTheClient() throws InterruptedException {
        String rest = ToolTestSupport.loopback() + ToolTestSupport.port();
        startServer("-b " + rest);
        ToolRun client = ToolRun.start(new Udpong(), "-T e -C 100000000 -s " + rest);
        client.awaitText(HEADER);
        Thread.sleep(300); // both transfer for a while
        assertThat(client.hasEnded()).as(client.err()).isFalse();
        endServer();
        assertThat(client.status()).isEqualTo(-1);
        assertThat(client.err()).contains(": Connection refused\n");
    }

    @Test
    void anAddressOfAnotherFamilyIsRejected() throws InterruptedException {
        ToolRun client = ToolRun.of(new Udpong(), "-T s -s 127.0.0.1 -b ::1" + ToolTestSupport.port());
        assertThat(client.status()).as(client.err()).isEqualTo(-1);
        assertThat(client.err()).contains(": Address family not supported by protocol\n");
    }

    /** The kernel delivers datagrams with source port 0, to which no response can be sent. */
    @Test
    void aClientThatCannotBeReachedIsSkipped() throws Exception {
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ToolEnvironment environment =
                new ToolEnvironment(new PrintStream(out, true, UTF_8), new PrintStream(err, true, UTF_8));
        InetAddress loopback = InetAddress.ofLiteral("127.0.0.1");
        int port = ToolTestSupport.portNumber();
        UdpongOptions options =
                new UdpongOptions(null, null, 0, false, 1, 64, String.valueOf(port), true, false, false, false);
        UdpTestSocket socket = UdpTestSocket.open(StandardProtocolFamily.INET);
        socket.bind(new InetSocketAddress(loopback, port));
        Thread serving = Thread.ofVirtual().start(() -> {
            try {
                new UdpongServer(options, environment, WarmUp.NONE).serve(new FirstFromPortZero(socket));
            } catch (ToolFailure closed) {
                // The test closed the socket.
            }
        });
        try (DatagramSocket client = new DatagramSocket(new InetSocketAddress(loopback, 0))) {
            client.setSoTimeout(10_000);
            byte[] login = new byte[UdpongMessage.CONTROL_BYTES];
            for (int i = 0; i < 3; i++) {
                client.send(new DatagramPacket(login, login.length, loopback, port));
            }
            DatagramPacket response = new DatagramPacket(new byte[64], 64);
            client.receive(response);
            client.receive(response);
            assertThat(response.getLength()).isEqualTo(login.length);
        }
        assertThat(out.toString(UTF_8)).isEqualTo("client login from 127.0.0.1\n".repeat(3));
        assertThat(err.toString(UTF_8)).containsOnlyOnce("\n").contains("127.0.0.1:0");
        socket.close();
        serving.join();
    }

    /** A socket that reports source port 0 for its first datagram, which may occur in a forged datagram. */
    private static final class FirstFromPortZero implements DatagramTestSocket {
        private final UdpTestSocket socket;
        private boolean receivedFirst;

        FirstFromPortZero(UdpTestSocket socket) {
            this.socket = socket;
        }

        @Override
        public @Nullable InetSocketAddress receive(ByteBuffer target) throws IOException {
            InetSocketAddress from = socket.receive(target);
            if (from == null || receivedFirst) {
                return from;
            }
            receivedFirst = true;
            return new InetSocketAddress(from.getAddress(), 0);
        }

        @Override
        public void setBuffers(int bytes) throws IOException {
            socket.setBuffers(bytes);
        }

        @Override
        public void bind(InetSocketAddress local) throws IOException {
            socket.bind(local);
        }

        @Override
        public void connect(InetSocketAddress remote) throws IOException {
            socket.connect(remote);
        }

        @Override
        public boolean send(ByteBuffer data) throws IOException {
            return socket.send(data);
        }

        @Override
        public boolean sendTo(ByteBuffer data, InetSocketAddress remote) throws IOException {
            return socket.sendTo(data, remote);
        }

        @Override
        public int await(int event, @Nullable Duration timeout) throws IOException {
            return socket.await(event, timeout);
        }

        @Override
        public void close() {
            socket.close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-b 127.0.0.1", "-s 127.0.0.1"})
    void aMissingDeviceIsReported(String words) throws InterruptedException {
        System.setProperty("rdma4j.device", "nosuch"); // as --device
        try {
            ToolRun run = ToolRun.start(new Udpong(), words + ToolTestSupport.port());
            run.awaitCall(UdpongServer.class, "receive").interrupt();
            assertThat(run.status()).as(run.out() + run.err()).isEqualTo(-1);
            assertThat(run.err())
                    .startsWith("No RDMA devices were detected\nudpong: ")
                    .contains("nosuch");
        } finally {
            System.clearProperty("rdma4j.device");
        }
    }

    @Test
    void aPortInUseIsReported() throws InterruptedException {
        String rest = "-b " + ToolTestSupport.loopback() + ToolTestSupport.port();
        startServer(rest);
        ToolRun second = ToolRun.of(new Udpong(), rest);
        assertThat(second.status()).isEqualTo(-1);
        assertThat(second.err()).startsWith("rbind: Address already in use\n");
    }

    @ParameterizedTest
    @CsvSource({
        "-S 15, size must be at least 16 bytes",
        "-T x, usage: udpong",
        "-f ip, usage: udpong",
        "operand -T, usage: udpong"
    })
    void invalidArgumentsAreRejected(String words, String message) throws InterruptedException {
        ToolRun run = ToolRun.of(new Udpong(), words);
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out()).startsWith(message + "\n");
    }

    @Test
    void aSizeTooLargeForADatagramIsRejected() throws InterruptedException {
        ToolRun run = ToolRun.of(new Udpong(), "-S 2033 -s 127.0.0.1");
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out()).isEqualTo(HEADER + "size must be at most 2032 bytes\n");
    }

    @Test
    void anUnknownNameIsReported() throws InterruptedException {
        ToolRun run = ToolRun.of(new Udpong(), "-s no-such-host.invalid");
        assertThat(run.status()).isIn(-2, -3);
        assertThat(run.out()).startsWith(HEADER + "getaddrinfo: ");
    }

    @Test
    void theHelpListsTheOptions() throws InterruptedException {
        ToolRun run = ToolRun.of(new Udpong(), "--help");
        assertThat(run.status()).isZero();
        assertThat(run.out())
                .startsWith("usage: udpong\n\t[-s server_address]\n")
                .contains("--pcap");
    }
}
