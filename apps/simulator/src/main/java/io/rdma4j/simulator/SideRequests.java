package io.rdma4j.simulator;

import io.rdma4j.transport.MemoryRegion;
import io.rdma4j.transport.ScatterGather;
import io.rdma4j.transport.SendRequest;
import io.rdma4j.value.PlacementType;
import io.rdma4j.value.SelectivityLevel;
import io.rdma4j.value.SendOpcode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Draws the requests of one side of a reliable connection, and maintains the model of the peer's memory.
 *
 * <p>The model is sequential, so the result of a request is known when it is drawn. A change that follows a READ is
 * fenced, because a READ whose response is lost is executed again.
 */
final class SideRequests {
    private static final int TARGET_BYTES = SideMemory.TARGET_BYTES;
    private static final int PROHIBITED = 10;

    /**
     * If windows are used, one of this many requests is local, in addition to the local requests that are drawn with
     * all others. Local requests complete without a packet, and must keep their position among other requests when
     * these are retransmitted.
     */
    private static final int LOCAL = 3;

    /** The operations. The runs of recorded seeds depend on their order. */
    private static final SendOpcode[] OPCODES = {
        SendOpcode.SEND,
        SendOpcode.SEND_WITH_IMMEDIATE,
        SendOpcode.SEND_WITH_INVALIDATE,
        SendOpcode.RDMA_WRITE,
        SendOpcode.RDMA_WRITE_WITH_IMMEDIATE,
        SendOpcode.RDMA_READ,
        SendOpcode.COMPARE_AND_SWAP,
        SendOpcode.FETCH_AND_ADD,
        SendOpcode.FLUSH,
        SendOpcode.ATOMIC_WRITE,
        SendOpcode.BIND_MEMORY_WINDOW,
        SendOpcode.LOCAL_INVALIDATE
    };

    private final RunParameters parameters;
    private final SideMemory memory;
    private final SideWindows windows;
    private final int maxInlineBytes;
    private final SplittableRandom random;
    private final List<MemoryChange> changes = new ArrayList<>();
    private @Nullable SimulatedSide receiver;

    /** The expected content of the peer's target memory after all posted requests. */
    private byte[] model = new byte[0];

    private int resultsUsed;
    private boolean readSinceFence;
    private boolean hasBrokenRules;

    /**
     * Creates the requests of a side.
     *
     * @param memory the side's memory
     * @param windows the side's windows
     * @param maxInlineBytes maximum length of inline data of its queue pair
     */
    SideRequests(
            RunParameters parameters,
            SideMemory memory,
            SideWindows windows,
            int maxInlineBytes,
            SplittableRandom random) {
        this.parameters = parameters;
        this.memory = memory;
        this.windows = windows;
        this.maxInlineBytes = maxInlineBytes;
        this.random = random;
    }

    /** Sets the peer, before any request is drawn. */
    void setPeer(SimulatedSide peer) {
        receiver = peer;
        model = peer.memory.targetCopy();
    }

    private SimulatedSide peer() {
        return Objects.requireNonNull(receiver);
    }

    /** Returns whether a request was drawn that the peer must refuse. */
    boolean hasBrokenRules() {
        return hasBrokenRules;
    }

    /**
     * Returns how the peer's memory differs from the model after some of the requests, or null if it does not.
     *
     * @param confirmed the number of changes that must have been made
     */
    @Nullable
    String difference(int confirmed, int mtuBytes) {
        return receiver == null
                ? null
                : MemoryChange.explain(peer().memory.targetCopy(), model, changes, confirmed, mtuBytes);
    }

    /**
     * Fills a request with a random operation, and records its effects.
     *
     * @param isLast true if it is the last one, which may be prohibited
     */
    SimulatedOperation fill(SendRequest request, boolean isLast) {
        boolean isLocal = windows.areUsed() && random.nextInt(LOCAL) == 0;
        request.opcode = isLocal ? SendOpcode.BIND_MEMORY_WINDOW : OPCODES[random.nextInt(OPCODES.length)];
        request.solicited = random.nextBoolean();
        request.fence = random.nextInt(8) == 0;
        request.inline = false;
        request.immediate = random.nextInt();
        request.list.clear();
        boolean isProhibited = isLast && parameters.breaksRules() && random.nextInt(PROHIBITED) == 0;
        SimulatedOperation operation = isProhibited ? prohibited(request) : permitted(request);
        if (request.fence) {
            readSinceFence = false;
        }
        if (request.opcode == SendOpcode.RDMA_READ) {
            readSinceFence = true;
        }
        return operation;
    }

    private SimulatedOperation permitted(SendRequest request) {
        return switch (request.opcode) {
            case RDMA_READ -> read(request);
            case COMPARE_AND_SWAP, FETCH_AND_ADD -> atomic(request);
            case FLUSH -> flush(request);
            case ATOMIC_WRITE -> atomicWrite(request);
            case RDMA_WRITE, RDMA_WRITE_WITH_IMMEDIATE -> write(request);
            case BIND_MEMORY_WINDOW, LOCAL_INVALIDATE -> local(request);
            case SEND_WITH_INVALIDATE -> sendWithInvalidate(request);
            case SEND, SEND_WITH_IMMEDIATE -> send(request, null);
        };
    }

    /** Binds or invalidates a window; sends if no window is available. */
    private SimulatedOperation local(SendRequest request) {
        Runnable whenDone = windows.fill(request, peer());
        if (whenDone == null) {
            request.opcode = SendOpcode.SEND;
            return send(request, null);
        }
        SimulatedOperation operation = new SimulatedOperation(request, 0, 0, new byte[0], changes.size());
        operation.whenDone = whenDone;
        return operation;
    }

    /** Invalidates a window of the peer; sends if none is available. */
    private SimulatedOperation sendWithInvalidate(SendRequest request) {
        SideWindows.Grant grant = peer().windows.revoke();
        if (grant == null) {
            request.opcode = SendOpcode.SEND;
            return send(request, null);
        }
        request.invalidateKey = grant.key();
        request.fence |= readSinceFence;
        return send(request, grant.key());
    }

    private SimulatedOperation send(SendRequest request, @Nullable Integer revokedKey) {
        byte[] message = message(request, parameters.maxMessageBytes());
        boolean immediate = request.opcode == SendOpcode.SEND_WITH_IMMEDIATE;
        peer().receives
                .expect(new ExpectedReceive(
                        message, message.length, immediate ? request.immediate : null, revokedKey, false));
        return new SimulatedOperation(request, message.length, 0, new byte[0], changes.size());
    }

    private SimulatedOperation write(SendRequest request) {
        byte[] message = message(request, Math.min(parameters.maxMessageBytes(), TARGET_BYTES));
        int offset = remote(request, message.length, 1);
        request.fence |= readSinceFence;
        change(offset, message, false);
        if (request.opcode == SendOpcode.RDMA_WRITE_WITH_IMMEDIATE) {
            peer().receives.expect(new ExpectedReceive(new byte[0], message.length, request.immediate, null, true));
        }
        return new SimulatedOperation(request, message.length, 0, new byte[0], changes.size());
    }

    private SimulatedOperation read(SendRequest request) {
        int length = length(Math.min(parameters.maxMessageBytes(), TARGET_BYTES));
        int offset = remote(request, length, 1);
        return withResult(request, Arrays.copyOfRange(model, offset, offset + length));
    }

    private SimulatedOperation atomic(SendRequest request) {
        int offset = remote(request, Long.BYTES, Long.BYTES);
        request.fence |= readSinceFence;
        MemorySegment before = MemorySegment.ofArray(model);
        ValueLayout.OfLong layout = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.nativeOrder());
        long old = before.get(layout, offset);
        request.compare = random.nextBoolean() ? old : random.nextLong();
        request.swapOrAdd = random.nextLong();
        boolean add = request.opcode == SendOpcode.FETCH_AND_ADD;
        byte[] result = Arrays.copyOfRange(model, offset, offset + Long.BYTES);
        if (add || request.compare == old) {
            byte[] changed = new byte[Long.BYTES];
            MemorySegment.ofArray(changed).set(layout, 0, add ? old + request.swapOrAdd : request.swapOrAdd);
            change(offset, changed, true);
        }
        return withResult(request, result);
    }

    private SimulatedOperation atomicWrite(SendRequest request) {
        int offset = remote(request, Long.BYTES, Long.BYTES);
        request.fence |= readSinceFence;
        request.lengthBytes = 0;
        request.swapOrAdd = random.nextLong();
        byte[] changed = new byte[Long.BYTES];
        MemorySegment.ofArray(changed).set(ValueLayout.JAVA_LONG_UNALIGNED, 0, request.swapOrAdd);
        change(offset, changed, true);
        return new SimulatedOperation(request, Long.BYTES, 0, new byte[0], changes.size());
    }

    /** Flushes a range of the target or all of it. Windows grant no right to it. */
    private SimulatedOperation flush(SendRequest request) {
        boolean isRange = random.nextBoolean();
        int length = isRange ? random.nextInt(TARGET_BYTES + 1) : 0;
        request.lengthBytes = 0;
        request.flushPlacement = PlacementType.GLOBAL.bit();
        request.flushSelectivity = isRange ? SelectivityLevel.RANGE.code() : SelectivityLevel.REGION.code();
        request.flushBytes = length;
        request.remoteKey = peer().memory.target.key();
        request.remoteAddress = isRange
                ? peer().memory.target.address() + random.nextInt(TARGET_BYTES - length + 1)
                : random.nextLong();
        return new SimulatedOperation(request, length, 0, new byte[0], changes.size());
    }

    private void change(int offset, byte[] after, boolean isWhole) {
        byte[] before = Arrays.copyOfRange(model, offset, offset + after.length);
        changes.add(new MemoryChange(offset, before, after, isWhole));
        System.arraycopy(after, 0, model, offset, after.length);
    }

    private SimulatedOperation withResult(SendRequest request, byte[] result) {
        int offset = resultsUsed;
        resultsUsed += result.length;
        if (request.opcode == SendOpcode.RDMA_READ) {
            split(request.list, memory.results, offset, result.length);
        } else {
            request.list.add(memory.results, offset, result.length);
        }
        request.lengthBytes = result.length;
        return new SimulatedOperation(request, result.length, offset, result, changes.size());
    }

    /** Chooses an offset in the peer's memory, and the key of the region or of a window; returns the offset. */
    private int remote(SendRequest request, int length, int alignment) {
        SideWindows.Grant grant = random.nextInt(3) == 0 ? null : peer().windows.pick(length);
        if (grant == null) {
            int offset = random.nextInt((TARGET_BYTES - length) / alignment + 1) * alignment;
            request.remoteAddress = peer().memory.target.address() + offset;
            request.remoteKey = peer().memory.target.key();
            return offset;
        }
        int inside = random.nextInt((grant.length() - length) / alignment + 1) * alignment;
        request.remoteAddress = grant.address() + inside;
        request.remoteKey = grant.key();
        return grant.offset() + inside;
    }

    /**
     * Fills a request that the peer must refuse, which breaks the connection: its key is wrong or its range is too
     * long.
     */
    private SimulatedOperation prohibited(SendRequest request) {
        boolean isRead = random.nextBoolean();
        request.opcode = isRead ? SendOpcode.RDMA_READ : SendOpcode.RDMA_WRITE;
        int length = random.nextInt(1, Math.min(parameters.maxMessageBytes(), TARGET_BYTES) + 1);
        request.list.add(isRead ? memory.results : memory.source, 0, length);
        request.lengthBytes = length;
        request.signaled = true;
        request.fence = true;
        request.remoteKey = peer().memory.target.key();
        request.remoteAddress = peer().memory.target.address();
        switch (random.nextInt(3)) {
            case 0 -> request.remoteKey ^= 1 << random.nextInt(Integer.SIZE);
            case 1 -> request.remoteAddress += TARGET_BYTES - random.nextInt(length);
            default -> {
                request.remoteKey = peer().memory.source.key();
                request.remoteAddress = peer().memory.source.address();
            }
        }
        hasBrokenRules = true;
        SimulatedOperation operation = new SimulatedOperation(request, length, 0, new byte[0], changes.size());
        operation.isProhibited = true;
        return operation;
    }

    /** Chooses a message, gathered from random offsets of the source memory or inline. */
    private byte[] message(SendRequest request, int maxBytes) {
        int length = length(maxBytes);
        request.lengthBytes = length;
        byte[] message = new byte[length];
        if (length <= maxInlineBytes && random.nextBoolean()) {
            request.inline = true;
            random.nextBytes(message);
            MemorySegment.copy(message, 0, request.inlineData, ValueLayout.JAVA_BYTE, 0, length);
            return message;
        }
        int done = 0;
        for (int pieces = random.nextInt(1, 4); pieces > 0; pieces--) {
            int piece = pieces == 1 ? length - done : random.nextInt(length - done + 1);
            int from = random.nextInt(SideMemory.SOURCE_BYTES - piece + 1);
            request.list.add(memory.source, from, piece);
            System.arraycopy(memory.sourceBytes, from, message, done, piece);
            done += piece;
        }
        return message;
    }

    private int length(int maxBytes) {
        return RandomPieces.length(random, maxBytes);
    }

    private void split(ScatterGather list, MemoryRegion region, int offset, int length) {
        RandomPieces.split(random, list, region, offset, length);
    }
}
