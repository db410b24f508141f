package io.rdma4j.conformance.cm;

import static io.rdma4j.conformance.cm.Session.SIZES;
import static io.rdma4j.conformance.cm.Session.completion;
import static io.rdma4j.conformance.cm.Session.queuePair;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.AddressInformation;
import io.rdma4j.cm.AddressInformation.Flag;
import io.rdma4j.cm.AddressInformation.Hints;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A message, a WRITE and a READ between two endpoints. */
@Timeout(60)
class MessagesTest {
    @Test
    void messagesReadsAndWritesArrive() {
        QueuePairInitAttributes attributes = QueuePairInitAttributes.of(SIZES);
        CmId listener = ConnectionManager.ofProcess()
                .createEndpoint(
                        AddressInformation.lookUp(
                                TestDevices.address().getHostAddress(), "0", Hints.of(PortSpace.TCP, Flag.PASSIVE)),
                        attributes);
        listener.listen(0);
        CompletableFuture<CmId> accepted = CompletableFuture.supplyAsync(() -> {
            CmId request = listener.getRequest();
            request.accept();
            return request;
        });
        CmId client = ConnectionManager.ofProcess()
                .createEndpoint(
                        AddressInformation.lookUp(
                                TestDevices.address().getHostAddress(), String.valueOf(listener.sourcePort())),
                        attributes);
        client.connect();
        CmId server = accepted.join();
        exchange(client, server);
        CompletableFuture<Void> parted = CompletableFuture.runAsync(client::disconnect);
        server.disconnect();
        parted.join();
        client.close();
        server.close();
        listener.close();
    }

    private static void exchange(CmId from, CmId to) {
        MemorySegment local = Arena.ofAuto().allocate(64);
        MemorySegment remote = Arena.ofAuto().allocate(64);
        CompletionQueue arrived = Objects.requireNonNull(to.receiveCompletions());
        CompletionQueue sent = Objects.requireNonNull(from.sendCompletions());
        WorkCompletion[] one = WorkCompletion.array(1);
        try (MemoryRegion localRegion = from.protectionDomain().register(local, AccessFlag.LOCAL_WRITE);
                MemoryRegion remoteRegion = to.protectionDomain()
                        .register(remote, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE)) {
            local.setString(0, "sent");
            queuePair(to).postReceive(new ReceiveWorkRequest().reset(1).into(remoteRegion, 0, 16));
            assertThat(arrived.await(one, Duration.ofMillis(20))).isZero();
            queuePair(from)
                    .postSend(SendWorkRequest.send(2, localRegion, 0, 5)
                            .signaled()
                            .inline());
            WorkCompletion received = completion(arrived);
            assertThat(received.id()).isEqualTo(1);
            assertThat(received.byteLength()).isEqualTo(5);
            assertThat(remote.getString(0)).isEqualTo("sent");
            assertThat(completion(sent).id()).isEqualTo(2);
            assertThat(sent.await(one, Duration.ZERO)).isZero();

            local.setString(0, "written");
            RemoteMemory part = remoteRegion.remote().slice(16, 8);
            queuePair(from).postWrite(3, localRegion, 0, 8, part);
            assertThat(completion(sent).opcode()).isEqualTo(CompletionOpcode.RDMA_WRITE);
            assertThat(remote.getString(16)).isEqualTo("written");

            queuePair(from).postRead(4, localRegion, 32, 8, part);
            assertThat(completion(sent).isSuccess()).isTrue();
            assertThat(local.getString(32)).isEqualTo("written");
        }
    }
}
