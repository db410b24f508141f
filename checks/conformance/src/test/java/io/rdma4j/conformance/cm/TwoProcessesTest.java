package io.rdma4j.conformance.cm;

import static io.rdma4j.conformance.cm.Session.expect;
import static io.rdma4j.conformance.cm.Session.listener;
import static io.rdma4j.conformance.cm.Session.resolved;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.DatagramParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.cm.MulticastJoinAttributes;
import io.rdma4j.cm.MulticastJoinFlag;
import io.rdma4j.conformance.device.Capability;
import io.rdma4j.conformance.device.Driver;
import io.rdma4j.conformance.device.KernelGroups;
import io.rdma4j.conformance.device.NotOn;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** This process and another one over the same address. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // a missing line blocks the reader
class TwoProcessesTest {
    private static final InetAddress ADDRESS = TestDevices.address();

    private final List<Process> processes = new ArrayList<>();

    @AfterEach
    void end() {
        processes.forEach(Process::destroyForcibly);
    }

    private Process start(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                PeerProcess.class.getName()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        processes.add(process);
        return process;
    }

    @Test
    void dataFlowBetweenProcessesInEitherOrderOfStart() throws Exception {
        Process peer = start("server", ADDRESS.getHostAddress());
        BufferedReader output = peer.inputReader();
        String port = Objects.requireNonNull(output.readLine());
        assertThat(port).startsWith("port ");
        EventChannel channel = EventChannel.open();
        CmId client = resolved(
                channel, null, new InetSocketAddress(ADDRESS, Integer.parseInt(port.substring("port ".length()))));
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(256);
            try (MemoryRegion region = client.protectionDomain().register(memory, AccessFlag.LOCAL_WRITE)) {
                var queuePair = Objects.requireNonNull(client.queuePair());
                client.connect(ConnectionParameters.defaults());
                expect(channel, CmEvent.Type.ESTABLISHED);
                memory.setString(0, "from another process");
                queuePair.postSend(
                        new SendWorkRequest().reset(1).from(region, 0, 128).signaled());
                queuePair.postReceive(new ReceiveWorkRequest().reset(2).into(region, 0, 256));
                assertThat(output.readLine()).isEqualTo("received from another process");
                awaitSuccess(client);
                expect(channel, CmEvent.Type.DISCONNECTED);
                client.disconnect();
                assertThat(output.readLine()).isEqualTo("disconnected");
            }
        }
        client.close();
        channel.close();
        assertThat(peer.waitFor()).isZero();
    }

    private static void awaitSuccess(CmId client) {
        WorkCompletion[] one = {new WorkCompletion()};
        var queue = Objects.requireNonNull(client.receiveCompletions());
        long end = System.nanoTime() + Session.PATIENCE.toNanos();
        while (queue.poll(one) == 0) {
            assertThat(System.nanoTime()).isLessThan(end);
        }
        assertThat(one[0].status()).isEqualTo(CompletionStatus.SUCCESS);
    }

    /** Accepts the connection of a peer that was started; returns this process' side. */
    private static CmId accept(EventChannel channel, Process peer) throws IOException {
        // A busy machine may take longer to start a process than the default timeout of an event.
        assertThat(peer.inputReader().readLine()).isEqualTo("calls");
        CmId server = expect(channel, CmEvent.Type.CONNECT_REQUEST).id();
        server.createQueuePair(QueuePairInitAttributes.of(Session.SIZES));
        server.accept();
        expect(channel, CmEvent.Type.ESTABLISHED);
        assertThat(peer.inputReader().readLine()).isEqualTo("connected");
        return server;
    }

    @Test
    void exitingProcessDisconnectsItsPeers() throws Exception {
        EventChannel channel = EventChannel.open();
        CmId listener = listener(channel, ADDRESS);
        Process peer = start("client", ADDRESS.getHostAddress(), String.valueOf(listener.sourcePort()));
        CmId server = accept(channel, peer);
        peer.getOutputStream().write("now\n".getBytes(java.nio.charset.StandardCharsets.UTF_8));
        peer.getOutputStream().flush();
        expect(channel, CmEvent.Type.DISCONNECTED);
        assertThat(peer.waitFor()).isZero();
        server.close();
        listener.close();
        channel.close();
    }

    @Test
    void killIsReportedToIdlePeersOnTheSameAddress() throws Exception {
        EventChannel channel = EventChannel.open();
        CmId listener = listener(channel, ADDRESS);
        Process peer = start("client", ADDRESS.getHostAddress(), String.valueOf(listener.sourcePort()));
        CmId server = accept(channel, peer);
        peer.destroyForcibly().waitFor();
        assertThat(expect(channel, CmEvent.Type.DISCONNECTED).id()).isSameAs(server);
        server.disconnect();
        server.close();
        listener.close();
        channel.close();
    }

    /**
     * A process that owns the UDP port of its address, and one that shares it. Whichever is killed, the other
     * disconnects its peers.
     */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void killIsReportedToPeersElsewhereIfAnotherProcessSharesTheAddress(int victim) throws Exception {
        EventChannel channel = EventChannel.open();
        CmId listener = listener(channel, ADDRESS);
        String source = TestDevices.anotherAddressThan(ADDRESS).getHostAddress();
        List<Process> peers = new ArrayList<>();
        List<CmId> servers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            peers.add(start("client", ADDRESS.getHostAddress(), String.valueOf(listener.sourcePort()), source));
            servers.add(accept(channel, peers.get(i)));
        }
        peers.get(victim).destroyForcibly().waitFor();
        assertThat(expect(channel, CmEvent.Type.DISCONNECTED).id()).isSameAs(servers.get(victim));
        servers.get(victim).disconnect();
        assertThat(expect(channel, CmEvent.Type.TIMEWAIT_EXIT).id()).isSameAs(servers.get(victim));
        assertThat(channel.poll()).as("of the other").isNull();
        peers.get(1 - victim).destroyForcibly().waitFor();
        for (CmId server : servers) {
            server.close();
        }
        listener.close();
        channel.close();
    }

    @Test
    @NotOn(
            value = {Driver.RXE, Driver.SIW},
            because = "belongs to a kernel, which disconnects on behalf of a process that was killed")
    void killedPeerCausesErrorCompletionsInTheTimeOfTheParameters() throws Exception {
        EventChannel channel = EventChannel.open();
        CmId listener = listener(channel, ADDRESS);
        Process peer = start("client", ADDRESS.getHostAddress(), String.valueOf(listener.sourcePort()));
        CmId server = accept(channel, peer);
        peer.destroyForcibly().waitFor();
        try (Arena arena = Arena.ofShared();
                MemoryRegion region = server.protectionDomain().register(arena.allocate(64))) {
            long start = System.nanoTime();
            Objects.requireNonNull(server.queuePair())
                    .postSend(new SendWorkRequest().reset(1).from(region).signaled());
            WorkCompletion[] one = {new WorkCompletion()};
            var queue = Objects.requireNonNull(server.sendCompletions());
            while (queue.poll(one) == 0) {
                assertThat(System.nanoTime() - start).isLessThan(Session.PATIENCE.toNanos());
            }
            // A timeout of exponent 12 is 17 ms, for each of 8 tries. The total is longer because the waits grow.
            assertThat(System.nanoTime() - start).isBetween(100_000_000L, 8_000_000_000L);
            assertThat(one[0].status()).isEqualTo(CompletionStatus.RETRY_EXCEEDED_ERROR);
        }
        server.close();
        listener.close();
        channel.close();
    }

    @Test
    void processesOfOneAddressReceiveAGroupAlikeAndAKilledOneIsNoLongerAMember() throws Exception {
        TestDevices.require(Capability.MULTICAST);
        InetAddress group = TestDevices.group();
        List<Process> receivers = List.of(
                start("group", ADDRESS.getHostAddress(), group.getHostAddress()),
                start("group", ADDRESS.getHostAddress(), group.getHostAddress()));
        for (Process receiver : receivers) {
            assertThat(receiver.inputReader().readLine()).isEqualTo("joined");
        }
        try (GroupMember sender = new GroupMember(ADDRESS)) {
            DatagramParameters destination = sender.join(
                    MulticastJoinAttributes.of(group).withFlag(MulticastJoinFlag.SEND_ONLY_FULL_MEMBER), "to send");
            for (int mark = 1; mark <= 3; mark++) {
                sender.send(destination, mark);
                for (Process receiver : receivers) {
                    assertThat(receiver.inputReader().readLine()).isEqualTo("received " + mark);
                }
            }
            receivers.getFirst().destroyForcibly().waitFor();
            assertThat(KernelGroups.isMember(group, TestDevices.networkInterface()))
                    .isTrue();
            sender.send(destination, 4);
            assertThat(receivers.getLast().inputReader().readLine()).isEqualTo("received 4");
            receivers.getLast().destroyForcibly().waitFor();
            assertThat(KernelGroups.isMember(group, TestDevices.networkInterface()))
                    .isFalse();
        }
    }
}
