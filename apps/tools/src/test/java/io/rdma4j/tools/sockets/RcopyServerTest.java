package io.rdma4j.tools.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.sockets.RdmaStreamSocket;
import io.rdma4j.tools.ToolRun;
import io.rdma4j.tools.ToolTestSupport;
import io.rdma4j.tools.command.ToolProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of rcopy's server with malicious clients and names, and of the files that it leaves on the disk. */
@Timeout(60)
class RcopyServerTest {
    private static final String WAITING = "waiting for connection...";
    private static final int ENOENT = 2;
    private static final int EINVAL = 22;
    private static final int EFBIG = 27;
    private static final int ENOSPC = 28;
    private static final int ELOOP = 40;
    private static final int EILSEQ = 84;

    private final int port = ToolTestSupport.portNumber();

    @TempDir
    private Path folder = Path.of("");

    private final ToolRun server = ToolRun.start(new Rcopy(), "-p " + port);

    @AfterEach
    void endServer() {
        server.interrupt();
    }

    private RdmaStreamSocket connect() throws Exception {
        server.awaitCall(RdmaStreamSocket.class, "accept");
        RdmaStreamSocket socket = RdmaStreamSocket.open();
        socket.connect(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port));
        return socket;
    }

    private ToolRun copy(Path source, Object target) throws InterruptedException {
        server.awaitCall(RdmaStreamSocket.class, "accept");
        return ToolRun.of(new Rcopy(), source + " 127.0.0.1:" + target + " -p " + port);
    }

    private Path source(String text) throws IOException {
        return Files.writeString(folder.resolve("source"), text);
    }

    /** Requests to open a file and returns the status of the response. */
    private static int open(RdmaStreamSocket socket, byte[] path) throws IOException {
        socket.send(RcopyMessage.of(RcopyMessage.OPEN, RcopyMessage.pathBytes(path.length), 0100644)
                .toBuffer()
                .put(path)
                .clear());
        return response(socket);
    }

    private static int open(RdmaStreamSocket socket, Path path) throws IOException {
        return open(socket, path.toString().getBytes(StandardCharsets.UTF_8));
    }

    private static void announce(RdmaStreamSocket socket, long bytes) throws IOException {
        socket.send(RcopyMessage.of(RcopyMessage.WRITE, RcopyMessage.SIZE_BYTES, 0)
                .toBuffer()
                .putLong(bytes)
                .flip());
    }

    private static int close(RdmaStreamSocket socket) throws IOException {
        socket.send(RcopyMessage.of(RcopyMessage.CLOSE, 0, 0).toBuffer().flip());
        return response(socket);
    }

    private static int response(RdmaStreamSocket socket) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(RcopyMessage.HEADER_BYTES).order(ByteOrder.nativeOrder());
        while (header.hasRemaining() && socket.receive(header) > 0) {
            // Repeats until the header is complete.
        }
        assertThat(header.hasRemaining()).as("no response").isFalse();
        return RcopyMessage.read(header.flip()).data();
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void aNamedPipeIsRejectedAndTheNextClientIsServed() throws Exception {
        Path pipe = folder.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        try (RdmaStreamSocket first = connect()) {
            assertThat(open(first, pipe)).isEqualTo(EINVAL);
        }
        assertThat(copy(source("text"), folder.resolve("target")).status()).isZero();
        assertThat(Files.isRegularFile(pipe, LinkOption.NOFOLLOW_LINKS)).isFalse();
    }

    @Test
    void aFileCopiedOntoItselfIsKept() throws Exception {
        Path source = source("the only copy");
        assertThat(copy(source, source).status()).isZero();
        assertThat(source).hasContent("the only copy");
    }

    @Test
    void aDisconnectedClientLeavesOnlyTheOldFile() throws Exception {
        Path target = Files.writeString(folder.resolve("target"), "old");
        try (RdmaStreamSocket socket = connect()) {
            assertThat(open(socket, target)).isZero();
            announce(socket, 1000);
            socket.send(ByteBuffer.allocate(400));
        }
        server.awaitText("...error receiving data").awaitText("data\n" + WAITING);
        server.awaitCall(RdmaStreamSocket.class, "accept");
        assertThat(target).hasContent("old");
        assertThat(names()).containsExactly("target");
    }

    @Test
    void aClientThatOnlyOpensAFileDoesNotEmptyIt() throws Exception {
        Path target = Files.writeString(folder.resolve("target"), "old");
        try (RdmaStreamSocket socket = connect()) {
            assertThat(open(socket, target)).isZero();
        }
        server.awaitText(", " + WAITING);
        assertThat(target).hasContent("old");
        assertThat(names()).containsExactly("target");
    }

    @Test
    void aFileTooLargeForTheDiskIsRejectedBeforeItIsSent() throws Exception {
        Path target = folder.resolve("target");
        try (RdmaStreamSocket socket = connect()) {
            assertThat(open(socket, target)).isZero();
            announce(socket, 1L << 60);
            assertThat(response(socket)).isEqualTo(ENOSPC);
        }
        server.awaitText("...error allocating file").awaitText("file\n" + WAITING);
        assertThat(names()).isEmpty();
    }

    @Test
    void anInvalidSizeIsRejected() throws Exception {
        try (RdmaStreamSocket socket = connect()) {
            assertThat(open(socket, folder.resolve("target"))).isZero();
            announce(socket, -1);
            assertThat(response(socket)).isEqualTo(EFBIG);
        }
    }

    @Test
    void aSecondWriteReplacesTheFirst() throws Exception {
        Path target = folder.resolve("target");
        try (RdmaStreamSocket socket = connect()) {
            assertThat(open(socket, target)).isZero();
            for (String text : List.of("first and longer", "second")) {
                announce(socket, text.length());
                socket.send(ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)));
                assertThat(response(socket)).isZero();
            }
            assertThat(close(socket)).isZero();
        }
        assertThat(target).hasContent("second");
        assertThat(names()).containsExactly("target");
    }

    @Test
    void anExistingFileKeepsItsPermissionsAndALinkStaysALink() throws Exception {
        Path target = Files.writeString(folder.resolve("target"), "old");
        Files.setPosixFilePermissions(target, PosixFilePermissions.fromString("rw-------"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), target);
        assertThat(copy(source("new"), link).status()).isZero();
        assertThat(target).hasContent("new");
        assertThat(Files.getPosixFilePermissions(target)).isEqualTo(PosixFilePermissions.fromString("rw-------"));
        assertThat(link).isSymbolicLink();
    }

    @ParameterizedTest
    @CsvSource({"new/, 21", "folder/, 21", "file/, 20", "folder/new//, 21", "nowhere/new/, 2"})
    void aNameThatEndsWithASlashIsRejected(String name, int error) throws Exception {
        Files.createDirectory(folder.resolve("folder"));
        Path existing = Files.writeString(folder.resolve("file"), "old");
        try (RdmaStreamSocket socket = connect()) {
            assertThat(open(socket, (folder + "/" + name).getBytes(StandardCharsets.UTF_8)))
                    .isEqualTo(error);
        }
        assertThat(names()).containsExactly("file", "folder");
        assertThat(existing).hasContent("old");
    }

    @Test
    void aDanglingLinkIsRejectedAndKept() throws Exception {
        Path link = Files.createSymbolicLink(folder.resolve("link"), folder.resolve("nowhere"));
        Path loop = Files.createSymbolicLink(folder.resolve("circle"), Path.of("circle"));
        for (Path each : List.of(link, loop)) {
            try (RdmaStreamSocket socket = connect()) {
                assertThat(open(socket, each)).isEqualTo(each.equals(link) ? ENOENT : ELOOP);
            }
        }
        assertThat(link).isSymbolicLink();
        assertThat(names()).containsExactly("circle", "link");
    }

    /** The temporary file is deleted, so its disk cannot be queried. As in C, an open file is still written. */
    @Test
    void aFileOnAnUnknownDiskIsWritten() throws Exception {
        try (IncomingFile file = IncomingFile.create(folder.resolve("target"), 0100644)) {
            Files.delete(folder.resolve(names().getFirst()));
            assertThat(file.begin(3).write(ByteBuffer.wrap(new byte[3]))).isEqualTo(3);
        }
    }

    @Test
    void aNameThatIsNotUtf8IsRejected() throws Exception {
        byte[] path = (folder + "/?.txt").getBytes(StandardCharsets.UTF_8);
        path[path.length - "?.txt".length()] = (byte) 0xe9;
        try (RdmaStreamSocket socket = connect()) {
            assertThat(open(socket, path)).isEqualTo(EILSEQ);
        }
        assertThat(names()).isEmpty();
    }

    @Test
    void controlCharactersOfANameAreEscaped() throws Exception {
        try (RdmaStreamSocket socket = connect()) {
            open(socket, "/no/\u001b[2J\n\u202e\u009b".getBytes(StandardCharsets.UTF_8));
        }
        assertThat(server.awaitText("unable to open").out())
                .contains("opening: /no/\\x1b[2J\\x0a\\u202e\\x9b, unable to open destination file\n");
        assertThat(server.err()).doesNotContain("\u001b", "\u009b", "\u202e");
    }

    @Test
    void theServerListensOnIpv6() throws Exception {
        server.awaitCall(RdmaStreamSocket.class, "accept");
        Path target = folder.resolve("target");
        ToolRun client = ToolRun.of(new Rcopy(), source("text") + " [::1]:" + target + " -p " + port);
        assertThat(client.status()).as(client.err()).isZero();
        assertThat(target).hasContent("text");
        assertThat(server.out()).contains("client: ::1\n");
    }

    /** In the locale of cron and containers, Java cannot encode names beyond ASCII. */
    @ParameterizedTest
    @ValueSource(strings = {"C", "C.UTF-8"})
    void aNameIsStoredUnchangedOrRejected(String locale) throws Exception {
        int ownPort = ToolTestSupport.portNumber();
        List<String> lines = new CopyOnWriteArrayList<>();
        try (ToolProcess process = ToolProcess.startWithInput(
                List.of("rcopy", "-p", String.valueOf(ownPort)), Map.of("LC_ALL", locale), lines::add, lines::add)) {
            try (RdmaStreamSocket socket = connectWhenListening(process, ownPort)) {
                int status = open(socket, (folder + "/\u00e9.txt").getBytes(StandardCharsets.UTF_8));
                assertThat(status).isIn(0, EILSEQ);
                if (status == 0) {
                    assertThat(close(socket)).isZero();
                }
                assertThat(listedByTheShell()).isEqualTo(status == 0 ? "\u00e9.txt\n" : "");
            }
        }
    }

    private static RdmaStreamSocket connectWhenListening(ToolProcess process, int port) throws Exception {
        while (true) {
            RdmaStreamSocket socket = RdmaStreamSocket.open();
            try {
                socket.connect(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port));
                return socket;
            } catch (IOException early) {
                socket.close();
                assertThat(process.isAlive()).isTrue();
                Thread.sleep(100);
            }
        }
    }

    private String listedByTheShell() throws IOException {
        Process list = new ProcessBuilder("ls", folder.toString()).start();
        return new String(list.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    /** The interrupt deletes the incomplete file, so the server must not confirm the copy. */
    @Test
    void aFileThatAnInterruptDeletedIsNotConfirmed() throws Exception {
        Path target = folder.resolve("target");
        try (RdmaStreamSocket socket = connect()) {
            assertThat(open(socket, target)).isZero();
            announce(socket, 4);
            socket.send(ByteBuffer.wrap(new byte[] {1, 2, 3, 4}));
            assertThat(response(socket)).isZero();
            server.interrupt();
            socket.send(RcopyMessage.of(RcopyMessage.CLOSE, 0, 0).toBuffer().flip());
            ByteBuffer header = ByteBuffer.allocate(RcopyMessage.HEADER_BYTES).order(ByteOrder.nativeOrder());
            while (header.hasRemaining() && socket.receive(header) > 0) {
                // Repeats until the header is complete or the server has disconnected.
            }
            assertThat(header.hasRemaining() || RcopyMessage.read(header.flip()).data() != 0)
                    .isTrue();
        }
        assertThat(names()).isEmpty();
    }

    @Test
    void noFileIsCreatedAfterAnInterrupt() throws Exception {
        try (RdmaStreamSocket socket = connect()) {
            server.awaitText("client: ").interrupt();
            byte[] path = folder.resolve("target").toString().getBytes(StandardCharsets.UTF_8);
            socket.send(RcopyMessage.of(RcopyMessage.OPEN, RcopyMessage.pathBytes(path.length), 0100644)
                    .toBuffer()
                    .put(path)
                    .clear());
            ByteBuffer header = ByteBuffer.allocate(RcopyMessage.HEADER_BYTES);
            while (header.hasRemaining() && socket.receive(header) > 0) {
                assertThat(names()).isEmpty();
            }
            assertThat(names()).isEmpty();
        }
    }
}
