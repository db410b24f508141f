package io.rdma4j.simulator;

import io.rdma4j.simulator.network.SimulatedHost;
import io.rdma4j.sockets.stream.StreamMemory;
import io.rdma4j.sockets.stream.StreamPort;
import io.rdma4j.sockets.stream.StreamProtocol;
import io.rdma4j.sockets.stream.StreamSizes;
import io.rdma4j.transport.Completion;
import io.rdma4j.transport.MemoryRegion;
import io.rdma4j.transport.QueuePairEvent;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.transport.RcQueuePair;
import io.rdma4j.transport.ReceiveRequest;
import io.rdma4j.transport.SendRequest;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.SendOpcode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.SplittableRandom;

/** The queue pair and registered memory of one side of a stream; completions are queued until they are polled. */
final class StreamQueuePair implements StreamPort {
    /** A completion that has not been polled. */
    private record QueuedCompletion(long id, boolean isReceive, boolean isSuccess, int immediate, int byteLength) {}

    private final SimulatedHost host;
    private final StreamSizes sizes;
    private final boolean hasImmediate;
    private final SplittableRandom random;
    private final StreamSide side;
    private final RcQueuePair machine;
    private final QueuePairMachine.Configuration configuration;
    private final MemoryRegion local;
    private final MemoryRegion received;
    private final MemoryRegion table;
    private final MemoryRegion words;
    private final StreamMemory memory;
    private final StreamProtocol protocol;
    private final ArrayDeque<QueuedCompletion> completions = new ArrayDeque<>();
    private int nextWord;
    private boolean hasReceived;
    private boolean retriesExceeded;

    StreamQueuePair(
            SimulatedHost host, StreamSizes sizes, boolean hasImmediate, SplittableRandom random, StreamSide side) {
        this.host = host;
        this.sizes = sizes;
        this.hasImmediate = hasImmediate;
        this.random = random;
        this.side = side;
        local = register(StreamMemory.localBytes(sizes), AccessFlag.LOCAL_WRITE.bit());
        received = register(sizes.receiveBufferBytes(), AccessFlag.LOCAL_WRITE.bit() | AccessFlag.REMOTE_WRITE.bit());
        table = register(StreamMemory.tableBytes(sizes), AccessFlag.LOCAL_WRITE.bit() | AccessFlag.REMOTE_WRITE.bit());
        words = register(
                (long) Integer.BYTES * (sizes.sendQueue() + sizes.receiveQueue()), AccessFlag.LOCAL_WRITE.bit());
        configuration = new QueuePairMachine.Configuration(
                sizes.sendQueue(), sizes.receiveQueue(), 2, 1, sizes.inlineBytes(), false, 1);
        machine = new RcQueuePair(
                host.unusedQueuePairNumber(),
                configuration,
                host.memory(),
                this::onCompletion,
                this::onCompletion,
                event -> hasReceived |= event == QueuePairEvent.COMMUNICATION_ESTABLISHED);
        machine.toInit(AccessFlag.REMOTE_WRITE.bit());
        host.add(machine);
        memory = new StreamMemory(
                local.memory(),
                received.memory(),
                received.address(),
                received.key(),
                table.memory(),
                table.address(),
                table.key());
        protocol = new StreamProtocol(sizes, memory, this, hasImmediate);
    }

    private MemoryRegion register(long bytes, int access) {
        MemorySegment segment = MemorySegment.ofArray(new byte[(int) bytes]);
        return host.memory().register(segment, random.nextLong() & 0x7fff_ffff_ffff_f000L, access, 1);
    }

    /** Makes the queue pair ready to receive and to send. */
    void ready(ConnectionTerms peer, int mtuBytes, int startingPsn) {
        for (int slot = 0; slot < sizes.receiveQueue(); slot++) {
            postReceive(slot);
        }
        machine.toReadyToReceive(new RcQueuePair.ReceiveParameters(
                ConnectedSide.path(host, peer), mtuBytes, peer.startingPsn(), 0, random.nextInt(1, 15)));
        machine.toReadyToSend(
                new RcQueuePair.SendParameters(startingPsn, 0, 7, 7, random.nextInt(9, 13), random.nextBoolean()));
    }

    /** Returns whether a request could not be delivered, so that the queue pair broke. */
    boolean retriesExceeded() {
        return retriesExceeded;
    }

    /** Returns whether the peer's first packet has arrived. */
    boolean hasReceived() {
        return hasReceived;
    }

    StreamSizes sizes() {
        return sizes;
    }

    RcQueuePair machine() {
        return machine;
    }

    StreamMemory memory() {
        return memory;
    }

    StreamProtocol protocol() {
        return protocol;
    }

    // ---- requests

    @Override
    public void write(long id, LocalRanges bytes, long remoteAddress, int remoteKey) {
        post(id, SendOpcode.RDMA_WRITE, bytes, remoteAddress, remoteKey, 0);
    }

    @Override
    public void writeWithImmediate(long id, LocalRanges bytes, long remoteAddress, int remoteKey, int word) {
        post(id, SendOpcode.RDMA_WRITE_WITH_IMMEDIATE, bytes, remoteAddress, remoteKey, word);
    }

    private void post(long id, SendOpcode opcode, LocalRanges bytes, long remoteAddress, int remoteKey, int word) {
        side.onPosted(bytes.totalLength(), remoteAddress, remoteKey);
        SendRequest request = claim(id, opcode);
        request.remoteAddress = remoteAddress;
        request.remoteKey = remoteKey;
        request.immediate = word;
        request.lengthBytes = bytes.totalLength();
        if (bytes.totalLength() <= configuration.maxInlineBytes()) {
            request.inline = true;
            copy(bytes.offset(), bytes.length(), request.inlineData, 0);
            copy(bytes.secondOffset(), bytes.secondLength(), request.inlineData, bytes.length());
        } else {
            addPiece(request, bytes.offset(), bytes.length());
            addPiece(request, bytes.secondOffset(), bytes.secondLength());
        }
        machine.sendQueue().publish();
    }

    private void addPiece(SendRequest request, long offset, int length) {
        if (length > 0) {
            request.list.add(local, offset, length);
        }
    }

    private void copy(long from, int length, MemorySegment to, int at) {
        MemorySegment.copy(local.memory(), from, to, at, length);
    }

    @Override
    public void sendControlWord(long id, int word) {
        long at = (long) Integer.BYTES * nextWord;
        nextWord = (nextWord + 1) % sizes.sendQueue();
        words.memory().set(ValueLayout.JAVA_INT_UNALIGNED, at, word);
        SendRequest request = claim(id, SendOpcode.SEND);
        request.lengthBytes = Integer.BYTES;
        request.list.add(words, at, Integer.BYTES);
        machine.sendQueue().publish();
    }

    private SendRequest claim(long id, SendOpcode opcode) {
        SendRequest request = machine.sendQueue().claim();
        if (request == null) {
            throw new SimulationFailure("more requests in flight than the send queue has slots");
        }
        request.workRequestId = id;
        request.opcode = opcode;
        request.signaled = true;
        return request;
    }

    private long wordAt(long slot) {
        return Integer.BYTES * (sizes.sendQueue() + slot);
    }

    private void postReceive(long slot) {
        ReceiveRequest request = machine.receiveQueue().claim();
        if (request == null) {
            throw new SimulationFailure("the receive queue is full");
        }
        request.workRequestId = slot;
        request.list.clear();
        if (!hasImmediate) {
            request.list.add(words, wordAt(slot), Integer.BYTES);
        }
        machine.receiveQueue().publish();
    }

    // ---- completions

    private void onCompletion(Completion completion) {
        retriesExceeded |= completion.status == CompletionStatus.RETRY_EXCEEDED_ERROR;
        completions.add(new QueuedCompletion(
                completion.workRequestId,
                completion.isReceive,
                completion.status == CompletionStatus.SUCCESS,
                completion.immediate,
                (int) completion.byteLength));
    }

    /** Polls at most {@code max} completions, passes them to the protocol, and posts the receives again. */
    void progress(int max) {
        for (int i = 0; i < max && !completions.isEmpty(); i++) {
            QueuedCompletion next = completions.remove();
            if (!next.isReceive) {
                protocol.onSendCompleted(next.id, next.isSuccess);
            } else if (next.isSuccess) {
                int word = hasImmediate
                        ? next.immediate
                        : words.memory().get(ValueLayout.JAVA_INT_UNALIGNED, wordAt(next.id));
                postReceive(next.id);
                protocol.onReceived(word, hasImmediate ? next.byteLength : -1);
            }
        }
        protocol.update();
        if (machine.state() == QueuePairState.ERROR) {
            machine.flush(); // requests posted since the queue pair broke
        }
    }

    void close() {
        host.remove(machine);
        host.memory().deregister(local);
        host.memory().deregister(received);
        host.memory().deregister(table);
        host.memory().deregister(words);
    }
}
