package io.rdma4j.sharing;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** RDMA ports are claimed among processes by the rules of Linux's rdma_cm. */
@Timeout(60)
class PortClaimsTest {
    @TempDir
    private Path directory;

    private ChildProcess one;
    private ChildProcess two;

    @BeforeEach
    void start() throws IOException, InterruptedException {
        Path run = Files.createDirectory(
                directory.resolve("run"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        one = new ChildProcess(ClaimProcess.class, List.of(), run.toString());
        two = new ChildProcess(ClaimProcess.class, List.of(), run.toString());
        assertThat(one.expect("= slot")).isNotEqualTo(two.expect("= slot"));
    }

    @AfterEach
    void end() {
        one.close();
        two.close();
    }

    private static String claim(ChildProcess by, String claim) throws IOException, InterruptedException {
        by.send(claim.contains(" ") ? "claim " + claim : claim);
        return by.expect("= ")[0];
    }

    @Test
    void claimsOfTwoProcessesConflictAsInLinux() throws IOException, InterruptedException {
        String[][] cases = {
            // the claim of process one, the request of process two, and its result
            {"10.0.0.1 true false 1", "10.0.0.1 true false 1", "IN_USE"},
            {"10.0.0.1 true false 2", "10.0.0.2 true false 2", "ok"},
            {"10.0.0.1 true false 3", "10.0.0.1 true false 4", "ok"},
            {"0.0.0.0 true false 5", "10.0.0.1 true false 5", "UNAVAILABLE"},
            {"10.0.0.1 true false 6", "0.0.0.0 true false 6", "UNAVAILABLE"},
            {"0.0.0.0 true false 7", "0.0.0.0 true false 7", "UNAVAILABLE"},
            {"0.0.0.0 true false 8", ":: true false 8", "ok"},
            {"0.0.0.0 true false 9", ":: false false 9", "UNAVAILABLE"},
            {":: false false 10", "10.0.0.1 true false 10", "UNAVAILABLE"},
            {":: true false 11", "10.0.0.1 true false 11", "ok"},
            {"fd00::1 true false 12", "10.0.0.1 true false 12", "ok"},
            {"10.0.0.1 true true 13", "10.0.0.1 true true 13", "ok"},
            {"10.0.0.1 true true 14", "10.0.0.1 true false 14", "IN_USE"},
            {"0.0.0.0 true true 15", "0.0.0.0 true true 15", "ok"},
            {"0.0.0.0 true true 16", "10.0.0.1 true true 16", "ok"},
            {"0.0.0.0 true true 17", "10.0.0.1 true false 17", "UNAVAILABLE"},
            {"10.0.0.1 true false 18", "0.0.0.0 true true 18", "UNAVAILABLE"},
            {"fe80::1%1 true false 19", "fe80::1%1 true false 19", "IN_USE"},
            {"fe80::1%1 true false 21", "fe80::1%2 true false 21", "ok"},
            {"fe80::1%1 true false 22", ":: true false 22", "UNAVAILABLE"},
            {"fd00::1%1 true false 23", "fd00::1%2 true false 23", "IN_USE"},
            {"10.0.0.1 true false 24", "10.0.0.1 true false 88", "ok"}, // two bytes of one file
        };
        for (String[] row : cases) {
            assertThat(claim(one, row[0])).as(row[0]).isEqualTo("ok");
            assertThat(claim(two, row[1])).as("%s after %s", row[1], row[0]).isEqualTo(row[2]);
            // Two claims of one process conflict in the same way.
            String here = row[0].replaceAll("\\d+$", "20$0");
            String there = row[1].replaceAll("\\d+$", "20$0");
            assertThat(claim(one, here)).as(here).isEqualTo("ok");
            assertThat(claim(one, there))
                    .as("%s after %s, one process", there, here)
                    .isEqualTo(row[2]);
        }
    }

    /**
     * The claims of processes one and two, and the result for two when one listens. Separate families do not conflict.
     */
    @ParameterizedTest
    @CsvSource({
        "10.0.0.1 true true 7, 10.0.0.1 true true 7, IN_USE",
        "10.0.0.1 true true 7, 0.0.0.0 true true 7, UNAVAILABLE",
        "0.0.0.0 true true 7, 10.0.0.1 true true 7, UNAVAILABLE",
        "0.0.0.0 true true 7, 0.0.0.0 true true 7, UNAVAILABLE",
        ":: false true 7, 10.0.0.1 true true 7, UNAVAILABLE",
        "10.0.0.1 true true 7, 10.0.0.2 true true 7, ok",
        "10.0.0.1 true true 7, :: true true 7, ok",
        "0.0.0.0 true true 7, :: true true 7, ok"
    })
    void listeningOnASharedPortIsRefusedAndAListenersPortIsNotShared(String first, String second, String expected)
            throws IOException, InterruptedException {
        assertThat(claim(one, first)).isEqualTo("ok");
        assertThat(claim(two, second)).isEqualTo("ok");
        assertThat(claim(one, "listen")).isEqualTo(expected);
        assertThat(claim(two, "free")).isEqualTo("freed");
        if (!expected.equals("ok")) {
            // The refused call has changed nothing.
            assertThat(claim(two, second)).isEqualTo("ok");
            assertThat(claim(two, "free")).isEqualTo("freed");
            assertThat(claim(one, "listen")).isEqualTo("ok");
        }
        assertThat(claim(two, second)).isEqualTo(expected);
        assertThat(claim(one, "free")).isEqualTo("freed");
        if (!expected.equals("ok")) {
            assertThat(claim(two, second)).isEqualTo("ok");
        }
    }

    /**
     * The claim of process one, and a claim of process two that shares it, but not with a claim that does not allow
     * reuse.
     */
    @ParameterizedTest
    @CsvSource({
        "10.0.0.1 true false 7, 10.0.0.1 true",
        "10.0.0.1 true false 7, 0.0.0.0 true",
        "10.0.0.1 true false 7, :: false",
        "0.0.0.0 true false 7, 10.0.0.1 true",
        "0.0.0.0 true false 7, 0.0.0.0 true",
        ":: false false 7, 10.0.0.1 true",
        ":: false false 7, :: false"
    })
    void reuseAllowedLaterAppliesToOtherProcesses(String first, String second)
            throws IOException, InterruptedException {
        assertThat(claim(one, first)).isEqualTo("ok");
        assertThat(claim(two, second + " true 7")).isNotEqualTo("ok");
        assertThat(claim(one, "reuse")).isEqualTo("ok");
        assertThat(claim(two, second + " false 7")).isNotEqualTo("ok");
        assertThat(claim(two, second + " true 7")).isEqualTo("ok");
        assertThat(claim(one, "listen")).isNotEqualTo("ok");
        assertThat(claim(two, "free")).isEqualTo("freed");
        assertThat(claim(one, "listen")).isEqualTo("ok");
        assertThat(claim(two, second + " true 7")).isNotEqualTo("ok");
        assertThat(claim(one, "free")).isEqualTo("freed");
        assertThat(claim(two, second + " false 7")).isEqualTo("ok");
    }

    @Test
    void portWithoutReuseIsExclusiveBeforeListening() throws IOException, InterruptedException {
        assertThat(claim(one, "10.0.0.1 true false 7")).isEqualTo("ok");
        assertThat(claim(one, "listen")).isEqualTo("ok");
        assertThat(claim(one, "listen")).isEqualTo("ok");
        assertThat(claim(two, "10.0.0.1 true true 7")).isEqualTo("IN_USE");
    }

    @Test
    void releasedPortCanBeClaimedAgain() throws IOException, InterruptedException {
        assertThat(claim(one, "0.0.0.0 true false 7")).isEqualTo("ok");
        assertThat(claim(two, "10.0.0.1 true false 7")).isEqualTo("UNAVAILABLE");
        assertThat(claim(one, "free")).isEqualTo("freed");
        assertThat(claim(two, "10.0.0.1 true false 7")).isEqualTo("ok");
    }

    @Test
    void portOfAKilledProcessIsFree() throws IOException, InterruptedException {
        assertThat(claim(one, "10.0.0.1 true false 7")).isEqualTo("ok");
        one.kill();
        assertThat(claim(two, "10.0.0.1 true false 7")).isEqualTo("ok");
    }
}
