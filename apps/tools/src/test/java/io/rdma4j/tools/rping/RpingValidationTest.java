package io.rdma4j.tools.rping;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.cm.AddressInformation;
import io.rdma4j.cm.AddressInformation.Flag;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.tools.ToolRun;
import io.rdma4j.tools.ToolTestSupport;
import io.rdma4j.tools.command.CmAddresses;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests rping -V with received data that differ from the sent data. */
class RpingValidationTest {
    private static final int SIZE_BYTES = 100;

    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final RpingReport report = new RpingReport(
            new ToolEnvironment(new PrintStream(err, true, UTF_8), new PrintStream(err, true, UTF_8)), false);

    private static MemorySegment ping() {
        MemorySegment memory = MemorySegment.ofArray(new byte[SIZE_BYTES]);
        RpingPayload.fill(memory, 7);
        return memory;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 42, SIZE_BYTES - 1})
    void alteredPingEndsTheRunWithMinusOne(int wrong) {
        MemorySegment received = ping();
        received.asByteBuffer().put(wrong, (byte) '?');
        assertThatThrownBy(() -> RpingClient.validate(ping(), received, 7, report))
                .isInstanceOfSatisfying(
                        ToolFailure.class, end -> assertThat(end.status()).isEqualTo(-1));
        assertThat(err.toString(UTF_8)).startsWith("data mismatch!\n").contains("ping 7: byte " + wrong + " of ");
    }

    @Test
    void unalteredPingPrintsNothing() {
        assertThatCode(() -> RpingClient.validate(ping(), ping(), 7, report)).doesNotThrowAnyException();
        assertThat(err.toString(UTF_8)).isEmpty();
    }

    /**
     * Serves the first ping like rping, but returns other data. Disconnects only after the client has ended.
     *
     * <p>A client that sees the disconnection before the reply has no data to compare.
     */
    private static void serveAlteredData(CmId listener, Arena arena, CountDownLatch clientHasEnded)
            throws InterruptedException {
        try (CmId id = listener.getRequest()) {
            QueuePair queuePair = Objects.requireNonNull(id.queuePair());
            try (MemoryRegion memory =
                    id.protectionDomain().register(arena.allocate(2L * RpingMessage.BYTES), AccessFlag.LOCAL_WRITE)) {
                ReceiveWorkRequest receive = new ReceiveWorkRequest().into(memory, 0, RpingMessage.BYTES);
                SendWorkRequest reply = SendWorkRequest.send(0, memory, RpingMessage.BYTES, RpingMessage.BYTES);
                WorkCompletion[] one = WorkCompletion.array(1);
                queuePair.postReceive(receive);
                id.accept();
                queuePair.receiveCompletions().await(one);
                queuePair.postReceive(receive);
                queuePair.postSend(reply);
                queuePair.receiveCompletions().await(one);
                RpingMessage sink = RpingMessage.read(memory.memory());
                queuePair.postWrite(
                        0,
                        memory,
                        RpingMessage.BYTES,
                        RpingMessage.BYTES,
                        new RemoteMemory(sink.address(), sink.key(), RpingMessage.BYTES));
                queuePair.postSend(reply);
                for (int i = 0; i < 3; i++) {
                    queuePair.sendCompletions().await(one);
                }
                clientHasEnded.await();
                id.disconnect();
            } finally {
                id.destroyQueuePair();
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"-V, 255", "'', 0"})
    void alteredDataEndTheRunWithTheStatusOfC(String option, int status) throws Exception {
        String port = String.valueOf(ToolTestSupport.portNumber());
        QueuePairCapabilities capabilities = new QueuePairCapabilities(4, 4, 1, 1, 0);
        AddressInformation local = CmAddresses.lookUp("127.0.0.1", null, port, EnumSet.of(Flag.PASSIVE), PortSpace.TCP);
        try (Arena arena = Arena.ofShared();
                CmId listener = ConnectionManager.ofProcess()
                        .createEndpoint(
                                local, QueuePairInitAttributes.of(capabilities).withSignalAll(true))) {
            listener.listen(1);
            CountDownLatch clientHasEnded = new CountDownLatch(1);
            FutureTask<@Nullable Void> served = new FutureTask<>(() -> {
                serveAlteredData(listener, arena, clientHasEnded);
                return null;
            });
            Thread.ofPlatform().daemon().start(served);
            ToolRun client = ToolRun.start("rping -c -a 127.0.0.1 -p " + port + " -C 1 " + option);
            int actual = client.status() & 0xff;
            clientHasEnded.countDown();
            served.get();
            assertThat(actual).as(client.err()).isEqualTo(status);
            assertThat(client.err().contains("data mismatch!\n")).isEqualTo(status != 0);
        }
    }
}
