package io.rdma4j.link;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdma4j.link.system.LinkSets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Processes of other users cannot connect to the sockets of this one, even if the permissions of file and directory
 * allow it. Requires root, to run as two users.
 */
@Timeout(60)
class LocalChannelUsersTest {
    private static final String NOBODY = "65534";

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path folder;

    @SuppressWarnings("NullAway.Init")
    private Path path;

    private final List<LinkSet> opened = new ArrayList<>();
    private final List<Process> processes = new ArrayList<>();

    static Stream<String> kinds() {
        return LinkKinds.all().stream();
    }

    @BeforeEach
    void openPermissions() throws IOException {
        assumeTrue(Integer.valueOf(0).equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid")), "needs root");
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/setpriv")), "needs setpriv");
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/perl")), "needs perl");
        path = folder.resolve("s.sock");
        for (Path open = folder; open != null && !open.equals(Path.of("/tmp")); open = open.getParent()) {
            if (Files.getOwner(open).getName().equals("root") && open.startsWith("/tmp")) {
                Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
            }
        }
    }

    @AfterEach
    void closeAll() {
        opened.forEach(LinkSet::close);
        processes.forEach(Process::destroyForcibly);
    }

    private LinkSet open(String kind) throws IOException {
        LinkSet set = LinkSets.open(kind);
        opened.add(set);
        return set;
    }

    private Process perl(String user, String script) throws IOException {
        Process process = new ProcessBuilder(
                        "/usr/bin/setpriv",
                        "--reuid",
                        user,
                        "--clear-groups",
                        "/usr/bin/perl",
                        "-MIO::Socket::UNIX",
                        "-e",
                        script)
                .redirectErrorStream(true)
                .start();
        processes.add(process);
        return process;
    }

    /**
     * Connects, and returns the outcome: "end" if the other side closes the connection, or "open" if it does not within
     * 2 seconds.
     */
    private String outcomeOfConnecting(String user, LinkSet set, LinkSet.LocalListener listener) throws Exception {
        Process process = perl(user, """
            my $s = IO::Socket::UNIX->new(Peer => '%s') or do { print "refused $!\\n"; exit };
            my $r = ''; vec($r, fileno($s), 1) = 1;
            print select($r, undef, undef, 2) ? (sysread($s, my $b, 1) ? "data\\n" : "end\\n") : "open\\n";
            """.formatted(path));
        List<LocalChannel> accepted = new ArrayList<>();
        for (int i = 0; i < 30 && process.isAlive(); i++) {
            LocalChannel channel = listener.accept();
            if (channel != null) {
                accepted.add(channel);
            }
            set.await(100_000_000);
        }
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(accepted).hasSize(output.equals("open\n") ? 1 : 0);
        accepted.forEach(LocalChannel::close);
        return output.trim();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void processOfAnotherUserIsRejected(String kind) throws Exception {
        LinkSet set = open(kind);
        LinkSet.LocalListener listener = set.listenLocal(path);
        assertThat(Files.getPosixFilePermissions(path)).isEqualTo(PosixFilePermissions.fromString("rw-------"));
        assertThat(outcomeOfConnecting(NOBODY, set, listener)).startsWith("refused");
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-rw-rw-"));
        assertThat(outcomeOfConnecting(NOBODY, set, listener)).isEqualTo("end");
        assertThat(outcomeOfConnecting("0", set, listener)).isEqualTo("open");
        listener.close();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void connectingToAListenerOfAnotherUserFails(String kind) throws Exception {
        Process process = perl(NOBODY, """
            $| = 1;
            my $s = IO::Socket::UNIX->new(Local => '%s', Listen => 1) or die "no socket: $!";
            chmod 0666, '%s'; print "ready\\n"; sleep 30;
            """.formatted(path, path));
        assertThat(process.inputReader().readLine()).isEqualTo("ready");
        assertThatThrownBy(() -> open(kind).connectLocal(path))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("another user");
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void ownerOfTheDirectoryIsRejectedLikeAnyOtherUser(String kind) throws Exception {
        LinkSet set = open(kind);
        LinkSet.LocalListener listener = set.listenLocal(path);
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-rw-rw-"));
        Files.setAttribute(folder, "unix:uid", Integer.valueOf(NOBODY));
        assertThat(outcomeOfConnecting(NOBODY, set, listener)).isEqualTo("end");
        assertThat(outcomeOfConnecting("0", set, listener)).isEqualTo("open");
        listener.close();
    }
}
