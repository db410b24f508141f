package io.rdma4j.exec.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.exec.bridge.Operation;
import io.rdma4j.testkit.TestNetwork;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.abi.Flags;
import io.rdma4j.verbs.abi.QueuePairMask;
import io.rdma4j.verbs.abi.VerbsStructures.Completion;
import io.rdma4j.verbs.abi.VerbsStructures.QueuePairAttributeFields;
import io.rdma4j.verbs.abi.VerbsStructures.ScatterGather;
import io.rdma4j.verbs.abi.VerbsStructures.SendRequest;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the data path between two devices, with requests and completions in native memory. */
class DataPathTest {
    private static final int SUCCESS = CompletionStatus.SUCCESS.code();
    private static final int PROTECTION_ERROR = CompletionStatus.LOCAL_PROTECTION_ERROR.code();
    private static final int FLUSHED = CompletionStatus.WORK_REQUEST_FLUSHED_ERROR.code();
    private static final int UNKNOWN_KEY = 0x1234_5678;

    private final TestNetwork network = new TestNetwork();
    private CEnd client;
    private CEnd server;
    private int clientQueuePair;
    private int serverQueuePair;

    @BeforeEach
    void connect() {
        client = new CEnd(network.addHost("10.0.0.1"));
        server = new CEnd(network.addHost("10.0.0.2"));
        clientQueuePair = client.createQueuePair(QueuePairType.RELIABLE_CONNECTION);
        serverQueuePair = server.createQueuePair(QueuePairType.RELIABLE_CONNECTION);
        client.connect(clientQueuePair, server, serverQueuePair);
        server.connect(serverQueuePair, client, clientQueuePair);
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
        network.close();
    }

    private MemorySegment sendOf(long id, MemorySegment elements) {
        return client.send(id, SendOpcode.SEND, Flags.SEND_SIGNALED, elements);
    }

    private MemorySegment toServer(MemorySegment request, long offset) {
        request.set(JAVA_LONG, SendRequest.RDMA_ADDRESS, server.memory.address() + offset);
        request.set(JAVA_INT, SendRequest.RDMA_KEY, server.remoteKey);
        return request;
    }

    @Test
    void aMessageIsReceived() {
        client.fill(0, "hello");
        assertThat(server.postReceive(serverQueuePair, server.receive(20, server.own(100, 64))))
                .isZero();
        assertThat(client.postSend(clientQueuePair, sendOf(10, client.own(0, 6))))
                .isZero();
        MemorySegment received = server.expect(20, SUCCESS);
        assertThat(received.get(JAVA_INT, Completion.LENGTH)).isEqualTo(6);
        assertThat(received.get(JAVA_INT, Completion.OPCODE)).isEqualTo(CompletionOpcode.RECEIVE.code());
        assertThat(received.get(JAVA_INT, Completion.QUEUE_PAIR)).isEqualTo(server.number(serverQueuePair));
        assertThat(received.get(JAVA_INT, Completion.FLAGS)).isZero();
        assertThat(server.text(100)).isEqualTo("hello");
        MemorySegment sent = client.expect(10, SUCCESS);
        assertThat(sent.get(JAVA_INT, Completion.OPCODE)).isEqualTo(CompletionOpcode.SEND.code());
    }

    /** In packed C structures, members may be unaligned. */
    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void structuresMayHaveAnyAddress(int offset) {
        client.fill(0, "hello");
        MemorySegment received = server.receive(20, moved(server.own(100, 64), offset));
        assertThat(server.postReceive(serverQueuePair, moved(received, offset))).isZero();
        MemorySegment sent = sendOf(10, moved(client.own(0, 6), offset));
        assertThat(client.postSend(clientQueuePair, moved(sent, offset))).isZero();
        client.expect(10, SUCCESS);
        MemorySegment completions = moved(server.arena.allocate(2L * Completion.BYTES), offset);
        int count;
        do {
            count = DataPath.poll(server.queue, 2, completions.address());
        } while (count == 0);
        assertThat(count).isEqualTo(1);
        assertThat(completions.get(JAVA_LONG_UNALIGNED, Completion.ID)).isEqualTo(20);
        assertThat(server.text(100)).isEqualTo("hello");
    }

    private MemorySegment moved(MemorySegment structure, int offset) {
        MemorySegment copy =
                client.arena.allocate(structure.byteSize() + offset, 8).asSlice(offset);
        return copy.copyFrom(structure);
    }

    @Test
    void immediateDataKeepsItsBytes() {
        int inMemory = 0x0403_0201;
        server.postReceive(serverQueuePair, server.receive(20, server.own(100, 64)));
        MemorySegment request = client.send(10, SendOpcode.SEND_WITH_IMMEDIATE, Flags.SEND_SIGNALED, client.own(0, 6));
        request.set(JAVA_INT, SendRequest.IMMEDIATE, inMemory);
        assertThat(client.postSend(clientQueuePair, request)).isZero();
        MemorySegment received = server.expect(20, SUCCESS);
        assertThat(received.get(JAVA_INT, Completion.IMMEDIATE)).isEqualTo(inMemory);
        assertThat(received.get(JAVA_INT, Completion.FLAGS)).isEqualTo(Flags.COMPLETION_IMMEDIATE);
        client.expect(10, SUCCESS);
    }

    @Test
    void writesReadsAndAtomicsAreExecuted() {
        client.fill(0, "written");
        assertThat(client.postSend(
                        clientQueuePair,
                        toServer(client.send(1, SendOpcode.RDMA_WRITE, Flags.SEND_SIGNALED, client.own(0, 8)), 256)))
                .isZero();
        client.expect(1, SUCCESS);
        assertThat(server.text(256)).isEqualTo("written");
        server.fill(512, "read");
        client.postSend(
                clientQueuePair,
                toServer(client.send(2, SendOpcode.RDMA_READ, Flags.SEND_SIGNALED, client.own(32, 5)), 512));
        client.expect(2, SUCCESS);
        assertThat(client.text(32)).isEqualTo("read");
        server.memory.set(JAVA_LONG, 1024, 40);
        client.postSend(clientQueuePair, atomic(3, SendOpcode.FETCH_AND_ADD, 2, 0));
        client.expect(3, SUCCESS);
        assertThat(server.memory.get(JAVA_LONG, 1024)).isEqualTo(42);
        client.postSend(clientQueuePair, atomic(4, SendOpcode.COMPARE_AND_SWAP, 42, 7));
        client.expect(4, SUCCESS);
        assertThat(server.memory.get(JAVA_LONG, 1024)).isEqualTo(7);
        assertThat(client.memory.get(JAVA_LONG, 64)).isEqualTo(42);
        client.postSend(clientQueuePair, atomic(5, SendOpcode.ATOMIC_WRITE, 99, 0));
        client.expect(5, SUCCESS);
        assertThat(server.memory.get(JAVA_LONG, 1024)).isEqualTo(99);
    }

    private MemorySegment atomic(long id, SendOpcode opcode, long compareOrAdd, long swap) {
        MemorySegment request = client.send(id, opcode, Flags.SEND_SIGNALED, client.own(64, 8));
        request.set(JAVA_LONG, SendRequest.ATOMIC_ADDRESS, server.memory.address() + 1024);
        request.set(JAVA_INT, SendRequest.ATOMIC_KEY, server.remoteKey);
        request.set(JAVA_LONG, SendRequest.ATOMIC_COMPARE_OR_ADD, compareOrAdd);
        request.set(JAVA_LONG, SendRequest.ATOMIC_SWAP, swap);
        return request;
    }

    @Test
    void aFlushHasATypeAndALevel() {
        int region = server.create(
                Operation.REGISTER,
                server.domain,
                server.memory.address(),
                4096,
                server.memory.address(),
                1 | 2 | 1 << 8);
        int key = (int) server.result(2);
        allowFlush();
        MemorySegment range = flush(1, key, 64, 1, 0);
        MemorySegment whole = flush(2, key, 0, 1, 1);
        assertThat(client.postSend(clientQueuePair, CEnd.chain(range, whole))).isZero();
        client.expect(1, SUCCESS);
        assertThat(client.expect(2, SUCCESS).get(JAVA_INT, Completion.OPCODE)).isEqualTo(CompletionOpcode.FLUSH.code());
        for (int[] wrong : new int[][] {{0, 0}, {4, 0}, {1, 2}}) {
            assertThat(client.postSend(clientQueuePair, flush(3, key, 64, wrong[0], wrong[1])))
                    .isEqualTo(Errno.EINVAL.number());
        }
        assertThat(server.call(Operation.CLOSE, region)).isZero();
    }

    private void allowFlush() {
        MemorySegment attributes = server.arena.allocate(QueuePairAttributeFields.BYTES, 8);
        attributes.set(JAVA_INT, QueuePairAttributeFields.ACCESS, 0xf | 1 << 8);
        attributes.set(JAVA_INT, QueuePairAttributeFields.STATE, QueuePairState.READY_TO_SEND.code());
        int mask = QueuePairMask.STATE | QueuePairMask.ACCESS_FLAGS;
        assertThat(server.call(Operation.MODIFY_QP, serverQueuePair, attributes.address(), mask))
                .isZero();
    }

    private MemorySegment flush(long id, int key, long length, int type, int level) {
        MemorySegment request = client.send(id, SendOpcode.FLUSH, Flags.SEND_SIGNALED, client.arena.allocate(0));
        request.set(JAVA_LONG, SendRequest.ATOMIC_ADDRESS, server.memory.address());
        request.set(JAVA_INT, SendRequest.ATOMIC_KEY, key);
        request.set(JAVA_LONG, SendRequest.ATOMIC_COMPARE_OR_ADD, length);
        request.set(JAVA_LONG, SendRequest.ATOMIC_SWAP, type | level << 8);
        return request;
    }

    @Test
    void inlineDataNeedsNoRegistrationAndIsCopiedImmediately() {
        MemorySegment unregistered = client.arena.allocateFrom("inline data");
        MemorySegment[] requests = new MemorySegment[24];
        for (int i = 0; i < requests.length; i++) {
            MemorySegment element = client.element(unregistered.address(), 12, UNKNOWN_KEY);
            requests[i] = toServer(
                    client.send(i, SendOpcode.RDMA_WRITE, Flags.SEND_SIGNALED | Flags.SEND_INLINE, element), 16L * i);
        }
        assertThat(client.postSend(clientQueuePair, CEnd.chain(requests))).isZero();
        unregistered.fill((byte) 'x');
        for (int i = 0; i < requests.length; i++) {
            client.expect(i, SUCCESS);
            assertThat(server.text(16L * i)).isEqualTo("inline data");
        }
    }

    @Test
    void inlineDataInPiecesFillsItsMemorySeveralTimes() {
        MemorySegment unregistered = client.arena.allocate(CEnd.MAX_INLINE);
        MemorySegment[] requests = new MemorySegment[30];
        for (int i = 0; i < requests.length; i++) {
            MemorySegment elements = client.arena.allocate(2L * ScatterGather.BYTES, 8);
            for (int piece = 0; piece < 2; piece++) {
                int half = CEnd.MAX_INLINE / 2;
                MemorySegment element = client.element(unregistered.address() + (long) piece * half, half, 0);
                elements.asSlice((long) piece * ScatterGather.BYTES, ScatterGather.BYTES)
                        .copyFrom(element);
            }
            requests[i] = toServer(
                    client.send(i, SendOpcode.RDMA_WRITE, Flags.SEND_SIGNALED | Flags.SEND_INLINE, elements),
                    (long) CEnd.MAX_INLINE * i);
        }
        unregistered.fill((byte) 7);
        assertThat(client.postSend(clientQueuePair, CEnd.chain(requests))).isZero();
        for (int i = 0; i < requests.length; i++) {
            client.expect(i, SUCCESS);
        }
        MemorySegment written = server.memory.asSlice(0, 30L * CEnd.MAX_INLINE);
        assertThat(written.toArray(java.lang.foreign.ValueLayout.JAVA_BYTE)).containsOnly(7);
    }

    @Test
    void inlineDataThatIsTooLongIsRefused() {
        MemorySegment tooLong =
                client.send(1, SendOpcode.RDMA_WRITE, Flags.SEND_INLINE, client.own(0, CEnd.MAX_INLINE + 1));
        assertThat(client.postSend(clientQueuePair, toServer(tooLong, 0))).isEqualTo(Errno.EINVAL.number());
        assertThat(client.bad.get(JAVA_LONG, 0)).isEqualTo(tooLong.address());
    }

    @Test
    void aSendWithAnUnknownKeyCompletesWithAnError() {
        client.fill(0, "good");
        MemorySegment good = toServer(client.send(1, SendOpcode.RDMA_WRITE, Flags.SEND_SIGNALED, client.own(0, 5)), 0);
        MemorySegment unknown = sendOf(2, client.element(client.memory.address(), 8, UNKNOWN_KEY));
        MemorySegment later = sendOf(3, client.own(0, 8));
        assertThat(client.postSend(clientQueuePair, CEnd.chain(good, unknown, later)))
                .isZero();
        client.expect(1, SUCCESS);
        client.expect(2, PROTECTION_ERROR);
        client.expect(3, FLUSHED);
        assertThat(server.text(0)).isEqualTo("good");
    }

    @Test
    void aResetRemovesTheCompletionsOfTheQueuePair() {
        int other = client.createQueuePair(QueuePairType.RELIABLE_CONNECTION);
        assertThat(client.postSend(clientQueuePair, sendOf(1, client.element(client.memory.address(), 8, UNKNOWN_KEY))))
                .isZero();
        client.expect(1, PROTECTION_ERROR);
        assertThat(client.postSend(clientQueuePair, sendOf(2, client.own(0, 8))))
                .isZero(); // is flushed immediately
        client.reset(other);
        client.reset(clientQueuePair);
        client.connect(clientQueuePair, server, serverQueuePair);
        server.reset(serverQueuePair);
        server.connect(serverQueuePair, client, clientQueuePair);
        client.postSend(
                clientQueuePair,
                toServer(client.send(3, SendOpcode.RDMA_WRITE, Flags.SEND_SIGNALED, client.own(0, 5)), 0));
        client.expect(3, SUCCESS);
    }

    @Test
    void aBatchIsPostedAsAWholeOrNotAtAll() {
        MemorySegment[] batch = new MemorySegment[33]; // the queue has 32 entries
        for (int i = 0; i < batch.length; i++) {
            int flags = Flags.SEND_SIGNALED | Flags.SEND_INLINE;
            batch[i] = toServer(
                    client.send(i, SendOpcode.RDMA_WRITE, flags, client.element(client.memory.address(), 200, 0)), 0);
        }
        MemorySegment first = CEnd.chain(batch);
        assertThat(DataPath.postSend(clientQueuePair, first.address(), 0)).isEqualTo(Errno.ENOMEM.number());
        batch[31].set(JAVA_LONG, SendRequest.NEXT, 0);
        batch[20].set(JAVA_INT, SendRequest.OPCODE, 99);
        assertThat(DataPath.postSend(clientQueuePair, first.address(), 0)).isEqualTo(Errno.EOPNOTSUPP.number());
        batch[20].set(JAVA_INT, SendRequest.OPCODE, SendOpcode.RDMA_WRITE.code());
        assertThat(DataPath.postSend(clientQueuePair, first.address(), 0)).isZero();
        for (int i = 0; i < 32; i++) {
            client.expect(i, SUCCESS);
        }
    }

    @Test
    void memoryThatBecomesAccessibleAgainIsUnchangedForPeers() {
        assertThat(server.call(Operation.SET_ACCESSIBLE, server.region, 0)).isZero();
        assertThat(server.call(Operation.SET_ACCESSIBLE, server.region, 1)).isZero();
        client.postSend(
                clientQueuePair,
                toServer(client.send(1, SendOpcode.RDMA_WRITE, Flags.SEND_SIGNALED, client.own(0, 5)), 0));
        client.expect(1, SUCCESS);
    }

    @Test
    void aRequestForRevokedMemoryCompletesWithAnError() {
        assertThat(server.call(Operation.SET_ACCESSIBLE, server.region, 0)).isZero();
        client.postSend(
                clientQueuePair,
                toServer(client.send(1, SendOpcode.RDMA_WRITE, Flags.SEND_SIGNALED, client.own(0, 5)), 0));
        client.expect(1, CompletionStatus.REMOTE_ACCESS_ERROR.code());
        assertThat(server.call(Operation.CLOSE, server.region)).isZero();
    }

    @Test
    void revokedMemoryCanBeReplaced() {
        assertThat(client.call(Operation.SET_ACCESSIBLE, client.region, 0)).isZero();
        assertThat(client.call(
                        Operation.REREGISTER,
                        client.region,
                        Flags.CHANGE_MEMORY,
                        0,
                        client.memory.address(),
                        CEnd.MEMORY_BYTES))
                .isZero();
        MemorySegment own = client.element(client.memory.address(), 5, (int) client.result(1));
        client.postSend(clientQueuePair, toServer(client.send(1, SendOpcode.RDMA_WRITE, Flags.SEND_SIGNALED, own), 0));
        client.expect(1, SUCCESS);
    }

    @Test
    void anAtomicWithAnUnknownKeyCompletesWithAnError() {
        MemorySegment request = atomic(1, SendOpcode.FETCH_AND_ADD, 1, 0);
        request.set(
                JAVA_LONG,
                SendRequest.LIST,
                client.element(client.memory.address(), 8, UNKNOWN_KEY).address());
        assertThat(client.postSend(clientQueuePair, request)).isZero();
        client.expect(1, PROTECTION_ERROR);
    }

    @Test
    void aRangeOutsideItsRegionCompletesWithAnError() {
        MemorySegment outside = client.element(client.memory.address() + CEnd.MEMORY_BYTES - 4, 8, client.localKey);
        assertThat(client.postSend(clientQueuePair, sendOf(1, outside))).isZero();
        client.expect(1, PROTECTION_ERROR);
    }

    @Test
    void memoryOfAnotherDomainCompletesWithAnError() {
        int other = client.create(Operation.ALLOCATE_DOMAIN, client.device);
        long address = client.memory.address();
        int region = client.create(Operation.REGISTER, other, address, 64, address, 1);
        int key = (int) client.result(1);
        assertThat(client.postSend(clientQueuePair, sendOf(1, client.element(address, 8, key))))
                .isZero();
        client.expect(1, PROTECTION_ERROR);
        assertThat(client.call(Operation.CLOSE, region)).isZero();
        assertThat(client.call(Operation.CLOSE, other)).isZero();
    }

    @Test
    void aReceiveWithAnUnknownKeyCompletesWithAnError() {
        server.postReceive(
                serverQueuePair, server.receive(20, server.element(server.memory.address(), 64, UNKNOWN_KEY)));
        client.postSend(clientQueuePair, sendOf(10, client.own(0, 6)));
        server.expect(20, PROTECTION_ERROR);
        client.expect(10, CompletionStatus.REMOTE_OPERATION_ERROR.code());
    }

    @Test
    void emptyElementsNeedNoMemory() {
        server.postReceive(serverQueuePair, server.receive(20, server.own(0, 64)));
        assertThat(client.postSend(clientQueuePair, sendOf(10, client.element(0, 0, UNKNOWN_KEY))))
                .isZero();
        assertThat(server.expect(20, SUCCESS).get(JAVA_INT, Completion.LENGTH)).isZero();
        client.expect(10, SUCCESS);
    }

    @Test
    void theFirstRequestThatCannotBePostedIsReported() {
        client.fill(0, "first");
        MemorySegment first = toServer(client.send(1, SendOpcode.RDMA_WRITE, Flags.SEND_SIGNALED, client.own(0, 6)), 0);
        MemorySegment wrong = client.send(2, SendOpcode.SEND, Flags.SEND_SIGNALED, client.own(0, 6));
        wrong.set(JAVA_INT, SendRequest.OPCODE, 10); // IBV_WR_TSO
        MemorySegment last = toServer(client.send(3, SendOpcode.RDMA_WRITE, Flags.SEND_SIGNALED, client.own(0, 6)), 64);
        assertThat(client.postSend(clientQueuePair, CEnd.chain(first, wrong, last)))
                .isEqualTo(Errno.EOPNOTSUPP.number());
        assertThat(client.bad.get(JAVA_LONG, 0)).isEqualTo(wrong.address());
        client.expect(1, SUCCESS);
        assertThat(server.text(0)).isEqualTo("first");
        assertThat(server.text(64)).isEmpty();
    }

    @Test
    void aFullQueueReportsTheRequestThatDidNotFit() {
        MemorySegment[] receives = new MemorySegment[40];
        for (int i = 0; i < receives.length; i++) {
            receives[i] = server.receive(i, server.own(0, 64));
        }
        assertThat(server.postReceive(serverQueuePair, CEnd.chain(receives))).isEqualTo(Errno.ENOMEM.number());
        assertThat(server.bad.get(JAVA_LONG, 0)).isEqualTo(receives[32].address());
    }

    @Test
    void wrongHandlesAreInvalidArguments() {
        MemorySegment request = sendOf(1, client.own(0, 6));
        assertThat(client.postSend(client.queue, request)).isEqualTo(Errno.EINVAL.number());
        assertThat(client.bad.get(JAVA_LONG, 0)).isEqualTo(request.address());
        assertThat(DataPath.poll(clientQueuePair, 1, request.address())).isEqualTo(-Errno.EINVAL.number());
        assertThat(DataPath.poll(0, 1, request.address())).isEqualTo(-Errno.EINVAL.number());
    }

    @Test
    void manyCompletionsArePolledTogether() {
        MemorySegment[] requests = new MemorySegment[20];
        for (int i = 0; i < requests.length; i++) {
            requests[i] = toServer(client.send(i, SendOpcode.RDMA_WRITE, Flags.SEND_SIGNALED, client.own(0, 8)), 0);
        }
        assertThat(client.postSend(clientQueuePair, CEnd.chain(requests))).isZero();
        MemorySegment completions = client.arena.allocate(50L * Completion.BYTES, 8);
        int taken = 0;
        while (taken < 20) {
            int count = DataPath.poll(client.queue, 50, completions.address());
            for (int i = 0; i < count; i++) {
                assertThat(completions.get(JAVA_LONG, (long) i * Completion.BYTES + Completion.ID))
                        .isEqualTo(taken++);
            }
        }
        assertThat(DataPath.poll(client.queue, 50, completions.address())).isZero();
    }

    @Test
    void completionsHaveATimestamp() {
        MemorySegment timestamp = client.arena.allocate(8, 8);
        MemorySegment completion = client.arena.allocate(Completion.BYTES, 8);
        assertThat(DataPath.pollTimed(client.queue, completion.address(), timestamp.address()))
                .isZero();
        long before = System.nanoTime();
        client.postSend(
                clientQueuePair,
                toServer(client.send(1, SendOpcode.RDMA_WRITE, Flags.SEND_SIGNALED, client.own(0, 8)), 0));
        while (DataPath.pollTimed(client.queue, completion.address(), timestamp.address()) == 0) {
            Thread.onSpinWait();
        }
        assertThat(timestamp.get(JAVA_LONG, 0)).isBetween(before, System.nanoTime());
    }

    @Test
    void threadsPostToOneQueuePairAtTheSameTime() throws Exception {
        int each = 200;
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 2; t++) {
            int thread = t;
            MemorySegment text = client.arena.allocateFrom("t" + t);
            MemorySegment request = toServer(
                    client.send(
                            t,
                            SendOpcode.RDMA_WRITE,
                            Flags.SEND_SIGNALED | Flags.SEND_INLINE,
                            client.element(text.address(), 3, 0)),
                    8L * t);
            MemorySegment bad = client.arena.allocate(8, 8);
            threads.add(Thread.ofPlatform().start(() -> {
                for (int i = 0; i < each; i++) {
                    int error;
                    do {
                        error = DataPath.postSend(clientQueuePair, request.address(), bad.address());
                    } while (error == Errno.ENOMEM.number());
                    assertThat(error).as("thread %s", thread).isZero();
                }
            }));
        }
        int[] counts = new int[2];
        for (int i = 0; i < 2 * each; i++) {
            MemorySegment completion = client.poll();
            assertThat(completion.get(JAVA_INT, Completion.STATUS)).isEqualTo(SUCCESS);
            counts[(int) completion.get(JAVA_LONG, Completion.ID)]++;
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(counts).containsExactly(each, each);
        assertThat(server.text(0)).isEqualTo("t0");
        assertThat(server.text(8)).isEqualTo("t1");
    }
}
