package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.ChildProcess;
import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.verbs.RemoteMemory;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A process that is made to detect another operating system, and has no native access, exchanges data with this process
 * and loads no class that makes system calls. Other differences of these systems can only be tested on them
 * (.github/workflows).
 */
@Timeout(60)
class OtherSystemsTest {
    @TempDir
    private Path folder;

    private List<String> exchange(List<String> options, boolean hasNativeAccess) throws Exception {
        InetAddress address = TestAddresses.loopback();
        Path log = folder.resolve("classes.log");
        List<String> all = new ArrayList<>(options);
        all.add("-Xlog:class+load:file=" + log);
        try (ChildProcess child = hasNativeAccess
                        ? new ChildProcess(PeerProcess.class, all, address.getHostAddress())
                        : ChildProcess.withoutNativeAccess(PeerProcess.class, all, address.getHostAddress());
                TestEndpoint own = new TestEndpoint(address)) {
            String[] ready = child.expect("ready");
            child.send("connect " + own.queuePair.number() + " " + own.region.address() + " " + own.region.remoteKey());
            child.expect("connected");
            own.connect(address, Integer.parseInt(ready[0]), own.psn);
            RemoteMemory remote = new RemoteMemory(Long.parseLong(ready[1]), Integer.parseInt(ready[2]), 64);
            for (int i = 0; i < 10; i++) {
                own.queuePair.postWrite(i, own.region, 0, 8, remote);
                assertThat(own.completion().isSuccess()).isTrue();
            }
        }
        return Files.readAllLines(log).stream()
                .filter(line -> line.contains(" io.rdma4j.link.linux.") || line.contains(" java.lang.foreign.Linker"))
                .toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"Mac OS X", "Windows Server 2025", "FreeBSD"})
    void noClassThatMakesSystemCallsIsLoaded(String system) throws Exception {
        assertThat(exchange(List.of("-Dos.name=" + system), false)).isEmpty();
    }

    @Test
    void classesThatMakeSystemCallsAreLoadedOnLinuxWithNativeAccess() throws Exception {
        boolean isLinux = System.getProperty("os.name", "").equals("Linux");
        assertThat(exchange(List.of(), true).isEmpty()).isEqualTo(!isLinux);
    }
}
