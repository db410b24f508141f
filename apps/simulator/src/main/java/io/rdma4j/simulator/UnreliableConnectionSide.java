package io.rdma4j.simulator;

import io.rdma4j.simulator.network.SimulatedHost;
import io.rdma4j.transport.Completion;
import io.rdma4j.transport.MemoryRegion;
import io.rdma4j.transport.QueuePairEvent;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.transport.SendRequest;
import io.rdma4j.transport.UcQueuePair;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.SendOpcode;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import java.util.SplittableRandom;

/**
 * One side of an unreliable connection.
 *
 * <p>If some packets of a WRITE are lost, the WRITE may have been executed in part. Therefore the model only knows that
 * each byte of the target memory is unchanged or has a value from a WRITE.
 */
final class UnreliableConnectionSide extends UnreliableSide implements ConnectedSide {
    private static final SendOpcode[] OPCODES = {
        SendOpcode.SEND, SendOpcode.SEND_WITH_IMMEDIATE, SendOpcode.RDMA_WRITE, SendOpcode.RDMA_WRITE_WITH_IMMEDIATE
    };
    private static final int CANARY_BYTES = 64;
    private static final int TARGET_BYTES = 4096;
    private static final int VALUES = 256;

    private final UcQueuePair queuePair;
    private final int maxMessageBytes;
    private final byte[] targetBytes = new byte[TARGET_BYTES + 2 * CANARY_BYTES];
    private final MemoryRegion target;

    /** The permitted values of each byte of the target, {@value #VALUES} bits for each byte. */
    private final BitSet allowed = new BitSet(TARGET_BYTES * VALUES);

    /** The target after all WRITEs, if none is lost. */
    private final byte[] model = new byte[TARGET_BYTES];

    private final int startingPsn;
    private int mtu;
    private int psn;
    private boolean started;
    private boolean hasReceived;
    private UnreliableConnectionSide peer = this;

    UnreliableConnectionSide(
            String name,
            SimulatedHost host,
            MessageLedger ledger,
            int maxMessageBytes,
            int planned,
            int incoming,
            boolean isFed,
            SplittableRandom random) {
        super(name, host, ledger, maxMessageBytes, maxMessageBytes, planned, incoming, isFed, random);
        this.maxMessageBytes = maxMessageBytes;
        target = host.memory()
                .register(
                        MemorySegment.ofArray(targetBytes).asSlice(CANARY_BYTES, TARGET_BYTES),
                        random.nextLong() & 0x7fff_ffff_ffff_f000L,
                        AccessFlag.LOCAL_WRITE.bit() | AccessFlag.REMOTE_WRITE.bit(),
                        DOMAIN);
        for (int i = 0; i < TARGET_BYTES; i++) {
            allowed.set(i * VALUES);
        }
        queuePair = new UcQueuePair(
                host.unusedQueuePairNumber(),
                configuration,
                host.memory(),
                this::onSendCompletion,
                this::onReceiveCompletion,
                event -> hasReceived |= event == QueuePairEvent.COMMUNICATION_ESTABLISHED);
        queuePair.toInit(AccessFlag.REMOTE_WRITE.bit());
        startingPsn = ConnectedSide.startingPsn(random);
        host.add(queuePair);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public SimulatedHost host() {
        return host;
    }

    @Override
    public ConnectionTerms terms() {
        return new ConnectionTerms(host.addressHigh(), host.addressLow(), queuePair.number(), startingPsn, 0);
    }

    @Override
    public byte[] connectData() {
        return new byte[0];
    }

    @Override
    public void setPeer(ConnectedSide other) {
        peer = (UnreliableConnectionSide) other;
    }

    @Override
    public void ready(ConnectionTerms other, byte[] connectData, int mtuBytes) {
        mtu = mtuBytes;
        psn = startingPsn;
        queuePair.toReadyToReceive(ConnectedSide.path(host, other), mtuBytes, other.startingPsn());
        queuePair.toReadyToSend(startingPsn);
    }

    @Override
    public void start() {
        started = true;
    }

    @Override
    public void work(long nowNanos) {
        if (started) {
            work();
        }
    }

    @Override
    public boolean isComplete() {
        return isAllPosted();
    }

    @Override
    public boolean wantsToEnd() {
        return isEnded();
    }

    @Override
    public boolean isClosed() {
        return isEnded();
    }

    @Override
    public boolean hasReceived() {
        return hasReceived;
    }

    @Override
    public QueuePairMachine machine() {
        return queuePair;
    }

    @Override
    void fill(SendRequest request) {
        request.opcode = OPCODES[random.nextInt(OPCODES.length)];
        boolean isWrite =
                request.opcode == SendOpcode.RDMA_WRITE || request.opcode == SendOpcode.RDMA_WRITE_WITH_IMMEDIATE;
        byte[] message = message(request, isWrite ? Math.min(maxMessageBytes, TARGET_BYTES) : maxMessageBytes);
        if (isWrite) {
            int offset = random.nextInt(TARGET_BYTES - message.length + 1);
            request.remoteAddress = peer.target.address() + offset;
            request.remoteKey = peer.target.key();
            peer.allow(offset, message);
        }
        long[] packets = new long[Math.max(1, (message.length + mtu - 1) / mtu)];
        for (int i = 0; i < packets.length; i++) {
            packets[i] = MessageLedger.packet(0, peer.queuePair.number(), psn++);
        }
        // The ledger records a WRITE only if it has immediate data, and then without the bytes.
        boolean isRecorded = request.opcode != SendOpcode.RDMA_WRITE;
        ledger.add(name, peer.name, isWrite ? new byte[0] : message, isRecorded, packets);
    }

    private void allow(int offset, byte[] message) {
        System.arraycopy(message, 0, model, offset, message.length);
        for (int i = 0; i < message.length; i++) {
            allowed.set((offset + i) * VALUES + (message[i] & 0xff));
        }
    }

    @Override
    void onArrival(Completion completion, byte[] memory, int offset) {
        int length = completion.isReceiveOfWrite ? 0 : (int) completion.byteLength;
        check(!completion.hasRouteHeader, "a receive of a connection has a route header");
        ledger.arrive(name, idOf(completion, memory, offset), memory, offset, length);
    }

    @Override
    public void checkEnd() {
        for (int i = 0; i < TARGET_BYTES; i++) {
            int value = targetBytes[CANARY_BYTES + i] & 0xff;
            check(
                    allowed.get(i * VALUES + value),
                    "byte " + i + " of the target is " + value + ", which was never written");
        }
        for (int i = 0; i < CANARY_BYTES; i++) {
            check(
                    (targetBytes[i] | targetBytes[CANARY_BYTES + TARGET_BYTES + i]) == 0,
                    "memory outside the target was written");
        }
        if (!isKilled()) {
            host.memory().deregister(target);
        }
        checkFinished();
    }

    /** Checks the target memory after a run without losses or duplicates. */
    void checkTarget() {
        byte[] memory = Arrays.copyOfRange(targetBytes, CANARY_BYTES, CANARY_BYTES + TARGET_BYTES);
        int difference = Arrays.mismatch(model, memory);
        check(difference < 0, "the target differs from the model at byte " + difference);
    }
}
