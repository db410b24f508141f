package io.rdma4j.exec.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.exec.Entry;
import io.rdma4j.exec.bridge.Handles;
import io.rdma4j.exec.bridge.Operation;
import io.rdma4j.exec.bridge.Readiness.Descriptors;
import io.rdma4j.testkit.TestHost;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.verbs.abi.QueuePairMask;
import io.rdma4j.verbs.abi.VerbsStructures.AddressVectorFields;
import io.rdma4j.verbs.abi.VerbsStructures.Capabilities;
import io.rdma4j.verbs.abi.VerbsStructures.Completion;
import io.rdma4j.verbs.abi.VerbsStructures.QueuePairAttributeFields;
import io.rdma4j.verbs.abi.VerbsStructures.ReceiveRequest;
import io.rdma4j.verbs.abi.VerbsStructures.ScatterGather;
import io.rdma4j.verbs.abi.VerbsStructures.SendRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** One end of a connection, with the handles, structures and memory of a C program. It calls Java like the bridge. */
final class CEnd implements AutoCloseable {
    static final int MEMORY_BYTES = 64 << 10;
    static final int MAX_INLINE = 256;

    /** Enough for all completions of a test, because a queue that overruns fails its queue pairs. */
    private static final int QUEUE_ENTRIES = 512;

    static final byte IPV4_GID_INDEX = 1;
    static final int ASYNC_DESCRIPTOR = 100;
    static final int CHANNEL_DESCRIPTOR = 101;

    private static final int ALL_RIGHTS = AccessFlag.bits(Set.of(
            AccessFlag.LOCAL_WRITE,
            AccessFlag.REMOTE_WRITE,
            AccessFlag.REMOTE_READ,
            AccessFlag.REMOTE_ATOMIC,
            AccessFlag.MEMORY_WINDOW_BIND));

    final Arena arena = Arena.ofShared();
    final MemorySegment memory = arena.allocate(MEMORY_BYTES, 64);
    final MemorySegment bad = arena.allocate(8, 8);

    /** The eventfds by descriptor, each with true if it is readable. */
    final Map<Integer, Boolean> readable = new ConcurrentHashMap<>();

    final int device;
    final int domain;
    final int channel;
    final int queue;
    final int region;
    final int localKey;
    final int remoteKey;

    private final MemorySegment arguments = arena.allocate(16 * 8, 8);
    private final MemorySegment completion = arena.allocate(Completion.BYTES, 8);

    CEnd(TestHost host) {
        device = Handles.add(new OpenDevice(host.device().open(), ASYNC_DESCRIPTOR, new Descriptors() {
            @Override
            public void raise(int descriptor) {
                assertThat(readable.put(descriptor, true)).isNotEqualTo(true);
            }

            @Override
            public void lower(int descriptor) {
                assertThat(readable.put(descriptor, false)).isEqualTo(true);
            }
        }));
        domain = create(Operation.ALLOCATE_DOMAIN, device);
        channel = create(Operation.CREATE_CHANNEL, device, CHANNEL_DESCRIPTOR);
        queue = createQueue(QUEUE_ENTRIES);
        region = create(Operation.REGISTER, domain, memory.address(), MEMORY_BYTES, memory.address(), ALL_RIGHTS);
        localKey = (int) result(1);
        remoteKey = (int) result(2);
    }

    /** Creates a completion queue without the function pointers of the data path, which the tests do not call. */
    private int createQueue(int entries) {
        OpenDevice open = Handles.of(device, OpenDevice.class);
        Channel events = Handles.of(channel, Channel.class);
        return Handles.add(new Completions(
                open, open.context().createCompletionQueue(entries, 0xc0L, events.channel(), 0), events));
    }

    /** Calls Java like {@code bridge_call} and returns the error number. */
    int call(int operation, long... values) {
        arguments.fill((byte) 0);
        for (int i = 0; i < values.length; i++) {
            arguments.setAtIndex(JAVA_LONG, i, values[i]);
        }
        return Entry.call(operation, arguments.address());
    }

    int create(int operation, long... values) {
        assertThat(call(operation, values)).isZero();
        return (int) result(0);
    }

    /** Returns a result of the last call. */
    long result(int index) {
        return arguments.getAtIndex(JAVA_LONG, index);
    }

    int createQueuePair(QueuePairType type) {
        MemorySegment sizes = arena.allocate(Capabilities.BYTES, 8);
        sizes.set(JAVA_INT, Capabilities.SEND_WORK_REQUESTS, 32);
        sizes.set(JAVA_INT, Capabilities.RECEIVE_WORK_REQUESTS, 32);
        sizes.set(JAVA_INT, Capabilities.SEND_SCATTER_GATHER, 4);
        sizes.set(JAVA_INT, Capabilities.RECEIVE_SCATTER_GATHER, 4);
        sizes.set(JAVA_INT, Capabilities.INLINE_BYTES, MAX_INLINE);
        return create(Operation.CREATE_QP, domain, type.code(), queue, queue, 0, sizes.address(), 0, 0xabcdL);
    }

    int number(int queuePair) {
        return Handles.of(queuePair, PostedQueuePair.class).queuePair().number();
    }

    /** Connects a queue pair and makes it ready to send, with C structures. */
    void connect(int queuePair, CEnd peer, int peerQueuePair) {
        MemorySegment attributes = arena.allocate(QueuePairAttributeFields.BYTES, 8);
        attributes.set(JAVA_INT, QueuePairAttributeFields.STATE, QueuePairState.INIT.code());
        attributes.set(JAVA_BYTE, QueuePairAttributeFields.PORT, (byte) 1);
        attributes.set(JAVA_INT, QueuePairAttributeFields.ACCESS, ALL_RIGHTS & 0xf);
        modify(
                queuePair,
                attributes,
                QueuePairMask.STATE
                        | QueuePairMask.PARTITION_KEY_INDEX
                        | QueuePairMask.PORT
                        | QueuePairMask.ACCESS_FLAGS);
        attributes.set(JAVA_INT, QueuePairAttributeFields.STATE, QueuePairState.READY_TO_RECEIVE.code());
        attributes.set(JAVA_INT, QueuePairAttributeFields.PATH_MTU, 3);
        attributes.set(JAVA_INT, QueuePairAttributeFields.DESTINATION_QUEUE_PAIR, peer.number(peerQueuePair));
        attributes.set(JAVA_INT, QueuePairAttributeFields.RECEIVE_PSN, 7);
        attributes.set(JAVA_BYTE, QueuePairAttributeFields.MAX_DESTINATION_READ_ATOMIC, (byte) 4);
        attributes.set(JAVA_BYTE, QueuePairAttributeFields.MIN_RNR_TIMER, (byte) 12);
        peer.writeOwnPath(attributes.asSlice(QueuePairAttributeFields.ADDRESS_VECTOR, AddressVectorFields.BYTES));
        modify(
                queuePair,
                attributes,
                QueuePairMask.STATE
                        | QueuePairMask.ADDRESS_VECTOR
                        | QueuePairMask.PATH_MTU
                        | QueuePairMask.DESTINATION_QUEUE_PAIR
                        | QueuePairMask.RECEIVE_PSN
                        | QueuePairMask.MAX_DESTINATION_READ_ATOMIC
                        | QueuePairMask.MIN_RNR_TIMER);
        attributes.set(JAVA_INT, QueuePairAttributeFields.STATE, QueuePairState.READY_TO_SEND.code());
        attributes.set(JAVA_INT, QueuePairAttributeFields.SEND_PSN, 7);
        attributes.set(JAVA_BYTE, QueuePairAttributeFields.TIMEOUT, (byte) 14);
        attributes.set(JAVA_BYTE, QueuePairAttributeFields.RETRY_COUNT, (byte) 7);
        attributes.set(JAVA_BYTE, QueuePairAttributeFields.RNR_RETRY, (byte) 7);
        attributes.set(JAVA_BYTE, QueuePairAttributeFields.MAX_READ_ATOMIC, (byte) 4);
        modify(
                queuePair,
                attributes,
                QueuePairMask.STATE
                        | QueuePairMask.TIMEOUT
                        | QueuePairMask.RETRY_COUNT
                        | QueuePairMask.RNR_RETRY
                        | QueuePairMask.SEND_PSN
                        | QueuePairMask.MAX_READ_ATOMIC);
    }

    void reset(int queuePair) {
        modify(queuePair, arena.allocate(QueuePairAttributeFields.BYTES, 8), QueuePairMask.STATE);
    }

    private void modify(int queuePair, MemorySegment attributes, int mask) {
        assertThat(call(Operation.MODIFY_QP, queuePair, attributes.address(), mask))
                .isZero();
    }

    /** Returns whether this end has an IPv4 address. */
    boolean hasIpv4Path() {
        MemorySegment path = arena.allocate(AddressVectorFields.BYTES, 8);
        writeOwnPath(path);
        return path.get(JAVA_BYTE, AddressVectorFields.DESTINATION_GID + 10) == -1;
    }

    /** Writes the path to this end, with the hop limit of ibv_rc_pingpong. */
    void writeOwnPath(MemorySegment path) {
        MemorySegment gid = arena.allocate(16, 8);
        assertThat(call(Operation.QUERY_GID, device, 1, IPV4_GID_INDEX, gid.address()))
                .isZero();
        MemorySegment.copy(gid, 0, path, AddressVectorFields.DESTINATION_GID, 16);
        path.set(JAVA_BYTE, AddressVectorFields.SOURCE_GID_INDEX, IPV4_GID_INDEX);
        path.set(JAVA_BYTE, AddressVectorFields.IS_GLOBAL, (byte) 1);
        path.set(JAVA_BYTE, AddressVectorFields.HOP_LIMIT, (byte) 1);
        path.set(JAVA_INT, AddressVectorFields.FLOW_LABEL, -1); // more than 20 bits, like UCX
        path.set(JAVA_BYTE, AddressVectorFields.PORT, (byte) 1);
    }

    // ---- requests

    /** Returns an array of one element. */
    MemorySegment element(long address, int length, int key) {
        MemorySegment element = arena.allocate(ScatterGather.BYTES, 8);
        element.set(JAVA_LONG, ScatterGather.ADDRESS, address);
        element.set(JAVA_INT, ScatterGather.LENGTH, length);
        element.set(JAVA_INT, ScatterGather.LOCAL_KEY, key);
        return element;
    }

    /** Returns an array of one element in the registered memory. */
    MemorySegment own(long offset, int length) {
        return element(memory.address() + offset, length, localKey);
    }

    /** Returns a request to send. */
    MemorySegment send(long id, SendOpcode opcode, int flags, MemorySegment elements) {
        MemorySegment request = arena.allocate(SendRequest.BYTES, 8);
        request.set(JAVA_LONG, SendRequest.ID, id);
        request.set(JAVA_LONG, SendRequest.LIST, elements.address());
        request.set(JAVA_INT, SendRequest.LIST_LENGTH, (int) (elements.byteSize() / ScatterGather.BYTES));
        request.set(JAVA_INT, SendRequest.OPCODE, opcode.code());
        request.set(JAVA_INT, SendRequest.FLAGS, flags);
        return request;
    }

    /** Chains requests and returns the first. */
    static MemorySegment chain(MemorySegment... requests) {
        for (int i = 0; i + 1 < requests.length; i++) {
            requests[i].set(JAVA_LONG, SendRequest.NEXT, requests[i + 1].address());
        }
        return requests[0];
    }

    int postSend(int queuePair, MemorySegment first) {
        return DataPath.postSend(queuePair, first.address(), bad.address());
    }

    MemorySegment receive(long id, MemorySegment elements) {
        MemorySegment request = arena.allocate(ReceiveRequest.BYTES, 8);
        request.set(JAVA_LONG, ReceiveRequest.ID, id);
        request.set(JAVA_LONG, ReceiveRequest.LIST, elements.address());
        request.set(JAVA_INT, ReceiveRequest.LIST_LENGTH, (int) (elements.byteSize() / ScatterGather.BYTES));
        return request;
    }

    int postReceive(int queuePair, MemorySegment first) {
        return DataPath.postReceive(queuePair, first.address(), bad.address());
    }

    /** Returns the next completion. */
    MemorySegment poll() {
        long deadline = System.nanoTime() + 10_000_000_000L;
        int count;
        while ((count = DataPath.poll(queue, 1, completion.address())) == 0) {
            assertThat(System.nanoTime()).as("a completion in time").isLessThan(deadline);
            Thread.onSpinWait();
        }
        assertThat(count).isEqualTo(1);
        return completion;
    }

    /** Polls one completion and checks its ID and status. */
    MemorySegment expect(long id, int status) {
        MemorySegment polled = poll();
        assertThat(polled.get(JAVA_LONG, Completion.ID)).isEqualTo(id);
        assertThat(polled.get(JAVA_INT, Completion.STATUS)).isEqualTo(status);
        return polled;
    }

    void fill(long offset, String text) {
        memory.setString(offset, text);
    }

    String text(long offset) {
        return memory.getString(offset);
    }

    boolean isReadable(int descriptor) {
        return readable.getOrDefault(descriptor, false);
    }

    @Override
    public void close() {
        assertThat(call(Operation.CLOSE, device)).isZero();
        arena.close();
    }
}
