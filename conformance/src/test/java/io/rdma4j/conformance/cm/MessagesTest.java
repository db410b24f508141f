package io.rdma4j.conformance.cm;

import static io.rdma4j.conformance.cm.Session.SIZES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rdma4j.cm.AddressInformation;
import io.rdma4j.cm.AddressInformation.Flag;
import io.rdma4j.cm.AddressInformation.Hints;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmQueuePairAttributes;
import io.rdma4j.cm.CmVerbs;
import io.rdma4j.cm.PortSpace;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The short forms of the verbs, between two endpoints. */
@Timeout(60)
class MessagesTest {
    private static final Set<CmVerbs.Flag> SIGNALED = Set.of(CmVerbs.Flag.SIGNALED);

    @Test
    void messagesReadsAndWritesArrive() {
        CmQueuePairAttributes attributes = CmQueuePairAttributes.of(SIZES);
        CmId listener = CmId.createEndpoint(
                AddressInformation.lookUp(
                        TestDevices.address().getHostAddress(), "0", Hints.of(PortSpace.TCP, Flag.PASSIVE)),
                attributes);
        listener.listen(0);
        CompletableFuture<CmId> accepted = CompletableFuture.supplyAsync(() -> {
            CmId request = listener.getRequest();
            request.accept();
            return request;
        });
        CmId client = CmId.createEndpoint(
                AddressInformation.lookUp(
                        TestDevices.address().getHostAddress(), String.valueOf(listener.sourcePort())),
                attributes);
        client.connect();
        CmId server = accepted.join();
        exchange(new CmVerbs(client), new CmVerbs(server));
        CompletableFuture<Void> parted = CompletableFuture.runAsync(client::disconnect);
        server.disconnect();
        parted.join();
        client.close();
        server.close();
        listener.close();
    }

    private static void exchange(CmVerbs from, CmVerbs to) {
        MemorySegment local = Arena.ofAuto().allocate(64);
        MemorySegment remote = Arena.ofAuto().allocate(64);
        WorkCompletion done = new WorkCompletion();
        try (MemoryRegion localRegion = from.register(local);
                MemoryRegion written = to.registerForWrite(remote);
                MemoryRegion read = to.registerForRead(remote)) {
            local.setString(0, "sent");
            to.postReceive(1, written, 0, 16);
            assertThat(to.awaitReceiveCompletion(done, Duration.ofMillis(20))).isFalse();
            from.postSend(2, localRegion, 0, 5, Set.of(CmVerbs.Flag.SIGNALED, CmVerbs.Flag.INLINE));
            assertThat(to.awaitReceiveCompletion(done, Duration.ofSeconds(20))).isTrue();
            assertThat(done.id()).isEqualTo(1);
            assertThat(done.byteLength()).isEqualTo(5);
            assertThat(remote.getString(0)).isEqualTo("sent");
            from.awaitSendCompletion(done);
            assertThat(done.id()).isEqualTo(2);
            assertThat(from.awaitSendCompletion(done, Duration.ZERO)).isFalse();

            local.setString(0, "written");
            from.postWrite(
                    3, localRegion, 0, 8, SIGNALED, new RemoteMemory(written.address() + 16, written.remoteKey(), 8));
            from.awaitSendCompletion(done);
            assertThat(done.opcode()).isEqualTo(CompletionOpcode.RDMA_WRITE);
            assertThat(remote.getString(16)).isEqualTo("written");

            from.postRead(4, localRegion, 32, 8, SIGNALED, new RemoteMemory(read.address() + 16, read.remoteKey(), 8));
            from.awaitSendCompletion(done);
            assertThat(done.isSuccess()).isTrue();
            assertThat(local.getString(32)).isEqualTo("written");
        }
    }

    @Test
    void withoutAQueuePairTheyAreInvalid() {
        try (CmId idle = CmId.create(PortSpace.TCP)) {
            CmVerbs messages = new CmVerbs(idle);
            RdmaException refused =
                    catchThrowableOfType(RdmaException.class, () -> messages.awaitSendCompletion(new WorkCompletion()));
            assertThat(refused.errno()).isEqualTo(Errno.EINVAL);
            assertThat(refused).hasMessageContaining("has no queue pair");
        }
    }
}
