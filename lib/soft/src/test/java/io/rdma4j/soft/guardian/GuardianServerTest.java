package io.rdma4j.soft.guardian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.fixture.ChildProcess;
import io.rdma4j.sharing.RunDirectory;
import io.rdma4j.soft.TestAddresses;
import io.rdma4j.soft.device.StackSettings;
import io.rdma4j.soft.host.RunDirectories;
import io.rdma4j.verbs.QueuePairInitAttributes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Peers of a process that shares its address with no other process are notified when it ends. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GuardianServerTest {
    private final InetAddress address = TestAddresses.loopback();
    private final BlockingQueue<String> log = new LinkedBlockingQueue<>();

    @TempDir
    Path folder = Path.of("");

    private final CmId listener =
            ConnectionManager.ofProcess().listen(new InetSocketAddress(address, 0), QueuePairInitAttributes.defaults());

    @AfterEach
    void close() {
        listener.close();
    }

    private GuardianServer guardian() throws IOException {
        RunDirectory directory = RunDirectories.at(folder.resolve("run"));
        GuardianServer guardian = GuardianServer.open(
                directory, () -> StackSettings.ofProcess().withRunDirectory(() -> directory), log::add);
        Thread.ofPlatform().daemon().start(guardian::run);
        return guardian;
    }

    private ChildProcess process() throws IOException {
        return new ChildProcess(
                GuardedProcessMain.class,
                List.of("-Drdma4j.run.dir=" + folder.resolve("run")),
                TestAddresses.loopback().getHostAddress(),
                address.getHostAddress(),
                String.valueOf(listener.sourcePort()));
    }

    private CmId accept(ChildProcess process) throws InterruptedException {
        CmId server = listener.getRequest();
        server.accept();
        process.expect("connected");
        return server;
    }

    private void readReports() throws IOException {
        try (DirectoryStream<Path> sockets = Files.newDirectoryStream(folder.resolve("run"), "report-*.sock")) {
            for (Path socket : sockets) {
                try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
                    channel.connect(UnixDomainSocketAddress.of(socket));
                    ByteBuffer report = ByteBuffer.allocate(1 << 16);
                    while (channel.read(report.clear()) >= 0) {
                        // The report is irrelevant here.
                    }
                } catch (SocketException e) {
                    assertThat(socket)
                            .as("the stack of the guardian is closed again")
                            .doesNotExist();
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"kill", "halt"})
    void peerOfAKilledProcessIsDisconnected(String way) throws Exception {
        try (GuardianServer guardian = guardian();
                ChildProcess process = process();
                CmId server = accept(process)) {
            assertThat(guardian.directory()).isEqualTo(folder.resolve("run"));
            if (way.equals("kill")) {
                process.kill();
            } else {
                process.send(way);
            }
            server.awaitDisconnect();
            assertThat(log.poll(10, TimeUnit.SECONDS)).contains("disconnecting 1 of its connections");
        }
    }

    @Test
    void processThatRanBeforeTheGuardianIsWatchedAfterItsReportWasRead() throws Exception {
        try (ChildProcess process = process();
                CmId server = accept(process);
                GuardianServer _ = guardian()) {
            readReports();
            process.kill();
            server.awaitDisconnect();
        }
    }

    @Test
    void processThatHasDisconnectedLeavesNothing() throws Exception {
        try (GuardianServer _ = guardian();
                ChildProcess process = process();
                CmId server = accept(process);
                ChildProcess other = process();
                CmId otherServer = accept(other)) {
            process.send("close");
            server.awaitDisconnect();
            server.disconnect();
            process.expect("closed");
            process.kill();
            other.kill();
            otherServer.awaitDisconnect();
            assertThat(log.poll(10, TimeUnit.SECONDS)).contains("disconnecting 1 of its connections");
            assertThat(log).isEmpty();
        }
    }

    @Test
    void thereIsOneGuardianForARunDirectory() throws IOException {
        try (GuardianServer _ = guardian()) {
            assertThatThrownBy(this::guardian).isInstanceOf(IOException.class).hasMessageContaining("already runs");
        }
        try (GuardianServer again = guardian()) {
            assertThat(again.directory()).exists();
        }
    }

    @Test
    void clientsThatAreNotProcessesOfThisProjectAreRefused() throws Exception {
        try (GuardianServer guardian = guardian()) {
            for (byte[] message : List.of(new byte[] {9, 1}, new byte[] {1, 0}, new byte[] {1, 7, 1})) {
                try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
                    channel.connect(UnixDomainSocketAddress.of(socketOf(guardian)));
                    channel.write(ByteBuffer.wrap(message));
                    assertThat(isClosed(channel)).isTrue();
                }
            }
            assertThat(log).isEmpty();
        }
    }

    /**
     * Waits until the other end has closed the channel. This appears as a reset if the other end has not read
     * everything.
     */
    private static boolean isClosed(SocketChannel channel) throws IOException {
        try {
            return channel.read(ByteBuffer.allocate(1)) < 0;
        } catch (SocketException e) {
            return true;
        }
    }

    /** The socket belongs to a network namespace, for which a directory chosen by the user has a subdirectory. */
    private static Path socketOf(GuardianServer guardian) throws IOException {
        try (Stream<Path> files = Files.walk(guardian.directory())) {
            return files.filter(file -> file.endsWith("guardian.sock"))
                    .findFirst()
                    .orElseThrow();
        }
    }

    /** Processes of other network namespaces remove directories in which no process has a slot. */
    @Test
    void directoryOfAGuardianWithoutProcessesStays() throws Exception {
        RunDirectory directory = RunDirectories.at(folder.resolve("run"));
        try (GuardianServer guardian = guardian()) {
            for (int i = 0; i < 100; i++) {
                directory.removeUnused();
                Thread.sleep(10);
            }
            assertThat(guardian.directory()).isDirectory();
            assertThatThrownBy(this::guardian).hasMessageStartingWith("a guardian already runs");
        }
    }
}
