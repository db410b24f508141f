package io.rdma4j.simulator;

import io.rdma4j.simulator.network.SimulatedHost;
import io.rdma4j.transport.Completion;
import io.rdma4j.transport.MemoryRegion;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.transport.ReceiveRequest;
import io.rdma4j.transport.SendRequest;
import io.rdma4j.transport.UdQueuePair;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.SendOpcode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair of an unreliable transport in a run.
 *
 * <p>It posts random messages, each of which contains its number. It records them and the arriving messages in the
 * ledger.
 */
abstract class UnreliableSide {
    static final int DOMAIN = 1;
    private static final byte UNTOUCHED = 0x5a;

    /** A posted receive. */
    private record Posted(int offset, int size) {}

    final String name;
    final SplittableRandom random;
    final SimulatedHost host;
    final MessageLedger ledger;
    final QueuePairMachine.Configuration configuration;
    private final boolean alwaysHasReceives;
    private final int maxReceiveBytes;
    private final byte[] sourceBytes;
    private final MemoryRegion source;
    private final byte[] receiveBytes;
    private final MemoryRegion receives;
    private final Map<Long, Posted> posted = new HashMap<>();
    private final ArrayDeque<Long> signaled = new ArrayDeque<>();
    private int receivesLeft;
    private int receivesUsed;
    private int sourceUsed;
    private int planned;
    private long nextId;
    private boolean ended;
    private boolean killed;

    /**
     * Creates a side without a queue pair.
     *
     * @param maxMessageBytes maximum length of a message sent
     * @param maxReceiveBytes size of a receive that holds every message
     * @param planned number of messages to send
     * @param incoming number of messages that may be sent to this side
     * @param alwaysHasReceives true if a sufficiently large receive is always posted
     */
    UnreliableSide(
            String name,
            SimulatedHost host,
            MessageLedger ledger,
            int maxMessageBytes,
            int maxReceiveBytes,
            int planned,
            int incoming,
            boolean alwaysHasReceives,
            SplittableRandom random) {
        this.name = name;
        this.host = host;
        this.ledger = ledger;
        this.maxReceiveBytes = maxReceiveBytes;
        this.planned = planned;
        this.alwaysHasReceives = alwaysHasReceives;
        this.random = random;
        receivesLeft = 2 * incoming; // each message may be duplicated
        sourceBytes = new byte[planned * maxMessageBytes + 1];
        source = host.memory().register(MemorySegment.ofArray(sourceBytes), address(), 0, DOMAIN);
        receiveBytes = new byte[receivesLeft * maxReceiveBytes + 1];
        Arrays.fill(receiveBytes, UNTOUCHED);
        receives = host.memory()
                .register(MemorySegment.ofArray(receiveBytes), address(), AccessFlag.LOCAL_WRITE.bit(), DOMAIN);
        configuration = new QueuePairMachine.Configuration(
                random.nextInt(1, 12),
                alwaysHasReceives ? receivesLeft + 1 : random.nextInt(1, 12),
                4,
                4,
                random.nextInt(0, 200),
                random.nextInt(4) == 0,
                DOMAIN);
    }

    private long address() {
        return random.nextLong() & 0x7fff_ffff_ffff_f000L;
    }

    /** Creates a datagram queue pair that is ready to send, and adds it to the host. */
    final UdQueuePair datagramQueuePair(int queueKey, int mtu, int psn) {
        UdQueuePair created = new UdQueuePair(
                host.unusedQueuePairNumber(),
                configuration,
                this::onSendCompletion,
                this::onReceiveCompletion,
                event -> {});
        created.toInit(0);
        created.changeQueueKey(queueKey);
        created.toReadyToReceive(mtu);
        created.toReadyToSend(psn);
        host.add(created);
        return created;
    }

    /** Returns the queue pair. */
    public abstract QueuePairMachine machine();

    /** Chooses the operation and the destination of a request, and fills it. {@link #message} creates the message. */
    abstract void fill(SendRequest request);

    /** Returns whether there is a destination for the next message. */
    boolean hasNext() {
        return true;
    }

    /** Handles a message that has arrived, at {@code offset} of the memory. */
    abstract void onArrival(Completion completion, byte[] memory, int offset);

    /** Returns whether all planned messages are posted, or the side has ended. */
    public boolean isDone() {
        return ended || planned == 0;
    }

    boolean isAllPosted() {
        return planned == 0;
    }

    /** Marks the side as killed: it sends nothing more. */
    public void kill() {
        killed = true;
        ended = true;
    }

    /** Returns whether the side was killed. */
    public boolean isKilled() {
        return killed;
    }

    /** Ends the side early, which flushes the posted requests. */
    public void end() {
        if (!ended) {
            ended = true;
            machine().toError();
        }
    }

    /** Returns whether the side was ended or killed. */
    boolean isEnded() {
        return ended;
    }

    /** Posts some of the remaining work. */
    void work() {
        if (ended) {
            return;
        }
        int receivesNow = alwaysHasReceives ? receivesLeft : random.nextInt(4);
        while (receivesNow > 0 && receivesLeft > 0 && postReceive()) {
            receivesNow--;
            receivesLeft--;
        }
        for (int i = random.nextInt(3); i > 0 && planned > 0 && hasNext(); i--) {
            SendRequest request = machine().sendQueue().claim();
            if (request == null) {
                return;
            }
            request.workRequestId = nextId++;
            request.signaled = configuration.signalAll() || random.nextBoolean();
            request.solicited = random.nextBoolean();
            fill(request);
            if (request.signaled) {
                signaled.add(request.workRequestId);
            }
            machine().sendQueue().publish();
            planned--;
        }
    }

    private boolean postReceive() {
        ReceiveRequest request = machine().receiveQueue().claim();
        if (request == null) {
            return false;
        }
        int size = alwaysHasReceives || random.nextBoolean() ? maxReceiveBytes : random.nextInt(maxReceiveBytes + 1);
        request.workRequestId = nextId++;
        RandomPieces.split(random, request.list, receives, receivesUsed, size);
        posted.put(request.workRequestId, new Posted(receivesUsed, size));
        receivesUsed += size;
        machine().receiveQueue().publish();
        return true;
    }

    /**
     * Creates the ledger's next message: random bytes that start with its number, unless the immediate data contains
     * it.
     *
     * <p>A message without immediate data is at least long enough for the number.
     */
    byte[] message(SendRequest request, int maxBytes) {
        int length = RandomPieces.length(random, maxBytes);
        boolean hasImmediate = request.opcode == SendOpcode.SEND_WITH_IMMEDIATE
                || request.opcode == SendOpcode.RDMA_WRITE_WITH_IMMEDIATE;
        byte[] message = new byte[hasImmediate ? length : Math.max(Integer.BYTES, length)];
        random.nextBytes(message);
        if (hasImmediate) {
            request.immediate = ledger.nextId();
        } else {
            ByteBuffer.wrap(message).putInt(0, ledger.nextId());
        }
        request.lengthBytes = message.length;
        request.inline = message.length <= configuration.maxInlineBytes() && random.nextBoolean();
        if (request.inline) {
            MemorySegment.copy(message, 0, request.inlineData, ValueLayout.JAVA_BYTE, 0, message.length);
        } else {
            System.arraycopy(message, 0, sourceBytes, sourceUsed, message.length);
            RandomPieces.split(random, request.list, source, sourceUsed, message.length);
            sourceUsed += message.length;
        }
        return message;
    }

    void onSendCompletion(Completion completion) {
        Long expected = signaled.poll();
        check(
                ended || expected != null && expected == completion.workRequestId,
                "completion of " + completion.workRequestId + " instead of " + expected);
        check(isPermitted(completion), "a send ended with " + completion.status);
    }

    void onReceiveCompletion(Completion completion) {
        check(isPermitted(completion), "a receive ended with " + completion.status);
        Posted receive = posted.remove(completion.workRequestId);
        check(receive != null, "receive " + completion.workRequestId + " was not posted, or completes again");
        if (receive != null && completion.status == CompletionStatus.SUCCESS) {
            check(
                    completion.isReceiveOfWrite || completion.byteLength <= receive.size,
                    completion.byteLength + " bytes in a receive of " + receive.size);
            onArrival(completion, receiveBytes, receive.offset);
        }
    }

    private boolean isPermitted(Completion completion) {
        return completion.status == CompletionStatus.SUCCESS
                || ended && completion.status == CompletionStatus.WORK_REQUEST_FLUSHED_ERROR;
    }

    /** Returns the number in a message. */
    static int idOf(Completion completion, byte[] memory, int offset) {
        return completion.hasImmediate
                ? completion.immediate
                : ByteBuffer.wrap(memory).getInt(offset);
    }

    /**
     * Runs the final checks.
     *
     * @return true if the memory of receives that are still posted is unchanged
     */
    boolean checkFinished() {
        if (killed) {
            return true;
        }
        check(ended || signaled.isEmpty(), "sends without completion: " + signaled);
        check(machine().nextDeadlineNanos() == Long.MAX_VALUE, "a timer is still running");
        check(
                ended || machine().state() == QueuePairState.READY_TO_SEND,
                "the state is " + machine().state());
        boolean untouched = true;
        for (Posted each : posted.values()) {
            for (int i = 0; i < each.size; i++) {
                untouched &= receiveBytes[each.offset + i] == UNTOUCHED;
            }
        }
        host.remove(machine());
        host.memory().deregister(source);
        host.memory().deregister(receives);
        return untouched;
    }

    void check(boolean condition, @Nullable String message) {
        if (!condition) {
            throw new SimulationFailure(name + ": " + message);
        }
    }
}
