package io.rdma4j.hardware.device;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.ScatterGatherList;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.abi.Flags;
import io.rdma4j.verbs.abi.VerbsStructures.ReceiveRequest;
import io.rdma4j.verbs.abi.VerbsStructures.ScatterGather;
import io.rdma4j.verbs.abi.VerbsStructures.SendRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A chain of work requests in native memory, written for each call. Used by one thread at a time. The writer enters the
 * handles of objects that the driver reads during the call, and {@link #release} exits them.
 */
final class WorkRequests {
    /** The maximum number of requests in the chain of one call. */
    static final int CHAIN = 16;

    private final String operation;
    private final int requestBytes;
    private final int maxScatterGather;
    private final MemorySegment memory;
    private final long listsAt;
    private final long base;
    private final Handle[] entered;
    private int enteredCount;

    /**
     * Allocates the memory of a chain.
     *
     * @param operation the C name of the call, for messages
     * @param requestBytes the size of a request
     * @param maxScatterGather maximum number of scatter/gather entries of a request
     */
    WorkRequests(String operation, int requestBytes, int maxScatterGather) {
        this.operation = operation;
        this.requestBytes = requestBytes;
        this.maxScatterGather = Math.max(1, maxScatterGather);
        listsAt = (long) CHAIN * requestBytes;
        memory = Arena.ofAuto().allocate(listsAt + (long) CHAIN * this.maxScatterGather * ScatterGather.BYTES + 8, 8);
        base = memory.address();
        entered = new Handle[CHAIN * (this.maxScatterGather + 2)];
    }

    /** Returns the address of the first request. */
    long first() {
        return base;
    }

    /** Returns the location where a call writes the address of a request that it refuses. */
    long refused() {
        return base + memory.byteSize() - 8;
    }

    /** Returns the index of the request that the last call has refused. */
    int refusedIndex() {
        return (int) ((memory.get(JAVA_LONG, memory.byteSize() - 8) - base) / requestBytes);
    }

    /** Makes a request the last one of the chain. */
    void end(int index) {
        memory.set(JAVA_LONG, (long) index * requestBytes + ReceiveRequest.NEXT, 0);
    }

    void write(int index, ReceiveWorkRequest request) {
        long at = (long) index * requestBytes;
        ScatterGatherList list = request.list();
        writeHead(at, index, request.id(), list.count(), ReceiveRequest.LIST_LENGTH);
        writeList(index, list, false);
    }

    private void writeHead(long at, int index, long id, int count, int lengthAt) {
        if (count > maxScatterGather) {
            throw new RdmaException(
                    operation,
                    Errno.EINVAL,
                    count + " pieces, but it takes " + maxScatterGather,
                    "Request more when you create the queue");
        }
        memory.set(JAVA_LONG, at + ReceiveRequest.ID, id);
        memory.set(JAVA_LONG, at + ReceiveRequest.NEXT, base + at + requestBytes);
        memory.set(JAVA_LONG, at + ReceiveRequest.LIST, base + listAt(index));
        memory.set(JAVA_INT, at + lengthAt, count);
    }

    private long listAt(int index) {
        return listsAt + (long) index * maxScatterGather * ScatterGather.BYTES;
    }

    /** Writes a scatter/gather list. For inline data, it has the addresses of this process. */
    private void writeList(int index, ScatterGatherList list, boolean isInline) {
        long at = listAt(index);
        for (int i = 0; i < list.count(); i++) {
            HardwareMemoryRegion region = own(list.region(i), HardwareMemoryRegion.class);
            HardwareRegistration registration = isInline ? enterMemory(region) : region.registration();
            long first = registration.first();
            if (isInline) {
                first = registration.memory().address();
                requireWithin(list, i, registration.memory());
            }
            memory.set(JAVA_LONG, at + ScatterGather.ADDRESS, first + list.offsetBytes(i));
            memory.set(JAVA_INT, at + ScatterGather.LENGTH, (int) list.lengthBytes(i));
            memory.set(JAVA_INT, at + ScatterGather.LOCAL_KEY, registration.localKey());
            at += ScatterGather.BYTES;
        }
    }

    /** Keeps the present memory of a region from being freed while the driver reads it. */
    private HardwareRegistration enterMemory(HardwareMemoryRegion region) {
        while (true) {
            HardwareRegistration registration = region.registration();
            try {
                registration.uses().enter(operation, region);
                entered[enteredCount++] = registration.uses();
                return registration;
            } catch (ClosedException closed) {
                if (region.registration().uses() == registration.uses()) { // otherwise it has other memory now
                    throw closed;
                }
            }
        }
    }

    /** Checks a piece of inline data: the region may have got smaller memory since the piece was added. */
    private void requireWithin(ScatterGatherList list, int index, MemorySegment data) {
        if (list.offsetBytes(index) > data.byteSize() - list.lengthBytes(index)) {
            throw new RdmaException(
                    operation,
                    Errno.EINVAL,
                    "piece " + index + " ends after the " + data.byteSize() + " bytes of " + list.region(index),
                    "Add the pieces again after the memory of a region has changed");
        }
    }

    /** Writes a datagram. Drivers read the destination unchecked: a missing one would crash the process. */
    void writeDatagram(int index, SendWorkRequest request) {
        boolean isSend = request.opcode() == SendOpcode.SEND || request.opcode() == SendOpcode.SEND_WITH_IMMEDIATE;
        if (!isSend || request.addressHandle() == null) {
            throw new RdmaException(
                    operation,
                    Errno.EINVAL,
                    "a datagram that is " + (isSend ? "a SEND without a destination" : request.opcode()),
                    "Datagrams are SENDs to an address handle");
        }
        write(index, request);
    }

    void write(int index, SendWorkRequest request) {
        long at = (long) index * requestBytes;
        ScatterGatherList list = request.list();
        writeHead(at, index, request.id(), list.count(), SendRequest.LIST_LENGTH);
        memory.set(JAVA_INT, at + SendRequest.OPCODE, request.opcode().code());
        memory.set(JAVA_INT, at + SendRequest.FLAGS, flags(request));
        writeOperation(at, request);
        if (request.addressHandle() != null) {
            writeDestination(at, request, request.addressHandle());
        }
        memory.set(JAVA_INT, at + SendRequest.XRC_SHARED_RECEIVE_QUEUE, request.sharedReceiveQueueNumber());
        writeList(index, list, request.isInline());
    }

    private static int flags(SendWorkRequest request) {
        return (request.isSignaled() ? Flags.SEND_SIGNALED : 0)
                | (request.isSolicited() ? Flags.SEND_SOLICITED : 0)
                | (request.isFenced() ? Flags.SEND_FENCED : 0)
                | (request.isInline() ? Flags.SEND_INLINE : 0);
    }

    private void writeOperation(long at, SendWorkRequest request) {
        switch (request.opcode()) {
            case SEND -> {}
            case SEND_WITH_IMMEDIATE -> writeImmediate(at, request);
            case SEND_WITH_INVALIDATE, LOCAL_INVALIDATE ->
                memory.set(JAVA_INT, at + SendRequest.INVALIDATE_KEY, request.invalidateKey());
            case RDMA_WRITE, RDMA_READ -> writeRemote(at, request);
            case RDMA_WRITE_WITH_IMMEDIATE -> {
                writeImmediate(at, request);
                writeRemote(at, request);
            }
            case COMPARE_AND_SWAP, FETCH_AND_ADD -> writeAtomic(at, request);
            case BIND_MEMORY_WINDOW -> writeBinding(at, request);
            case FLUSH, ATOMIC_WRITE ->
                throw new RdmaException(
                        operation,
                        Errno.EOPNOTSUPP,
                        request.opcode() + " on a hardware device",
                        "C posts it by ibv_wr_* only, which rdma4j does not use: post it on the software device");
        }
    }

    private void writeImmediate(long at, SendWorkRequest request) {
        memory.set(JAVA_INT, at + SendRequest.IMMEDIATE, Integer.reverseBytes(request.immediateData()));
    }

    private void writeRemote(long at, SendWorkRequest request) {
        memory.set(JAVA_LONG, at + SendRequest.RDMA_ADDRESS, request.remoteAddress());
        memory.set(JAVA_INT, at + SendRequest.RDMA_KEY, request.remoteKey());
    }

    private void writeAtomic(long at, SendWorkRequest request) {
        boolean isSwap = request.opcode() == SendOpcode.COMPARE_AND_SWAP;
        memory.set(JAVA_LONG, at + SendRequest.ATOMIC_ADDRESS, request.remoteAddress());
        memory.set(JAVA_INT, at + SendRequest.ATOMIC_KEY, request.remoteKey());
        memory.set(
                JAVA_LONG,
                at + SendRequest.ATOMIC_COMPARE_OR_ADD,
                isSwap ? request.compareValue() : request.swapOrAddValue());
        memory.set(JAVA_LONG, at + SendRequest.ATOMIC_SWAP, isSwap ? request.swapOrAddValue() : 0);
    }

    private void writeBinding(long at, SendWorkRequest request) {
        MemoryRegion region = request.bindRegion();
        if (region == null) { // drivers read the region's key unchecked
            throw new RdmaException(
                    operation, Errno.EINVAL, "a window of type 2 that is bound to nothing", "Invalidate it instead");
        }
        HardwareMemoryWindow window = own(request.memoryWindow(), HardwareMemoryWindow.class);
        memory.set(JAVA_LONG, at + SendRequest.BIND_WINDOW, enter(window));
        memory.set(JAVA_INT, at + SendRequest.BIND_KEY, request.remoteKey());
        memory.set(JAVA_LONG, at + SendRequest.BIND_REGION, enter(own(region, HardwareMemoryRegion.class)));
        memory.set(JAVA_LONG, at + SendRequest.BIND_ADDRESS, region.address() + request.bindOffsetBytes());
        memory.set(JAVA_LONG, at + SendRequest.BIND_LENGTH, request.bindLengthBytes());
        memory.set(JAVA_INT, at + SendRequest.BIND_ACCESS, AccessFlag.bits(request.bindAccess()));
    }

    private void writeDestination(long at, SendWorkRequest request, AddressHandle destination) {
        memory.set(
                JAVA_LONG,
                at + SendRequest.DATAGRAM_ADDRESS_HANDLE,
                enter(own(destination, HardwareAddressHandle.class)));
        memory.set(JAVA_INT, at + SendRequest.DATAGRAM_QUEUE_PAIR, request.remoteQueuePairNumber());
        memory.set(JAVA_INT, at + SendRequest.DATAGRAM_QUEUE_KEY, request.remoteQueueKey());
    }

    private <T extends HardwareObject> T own(@Nullable Object object, Class<T> type) {
        if (!type.isInstance(object)) {
            throw new RdmaException(operation, Errno.EINVAL, object + " is of another device", "");
        }
        return type.cast(object);
    }

    private long enter(HardwareObject object) {
        long address = object.handle().enter(operation, object);
        entered[enteredCount++] = object.handle();
        return address;
    }

    /** Exits the handles of the objects that the requests refer to. */
    void release() {
        while (enteredCount > 0) {
            entered[--enteredCount].exit();
        }
    }
}
