package io.rdma4j.exec.verbs;

import io.rdma4j.exec.bridge.Failures;
import io.rdma4j.exec.bridge.Handles;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.PlacementType;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.abi.Flags;
import io.rdma4j.verbs.abi.Native;
import io.rdma4j.verbs.abi.QueuePairCodec;
import io.rdma4j.verbs.abi.VerbsStructures.AddressHandleFields;
import io.rdma4j.verbs.abi.VerbsStructures.RegionFields;
import io.rdma4j.verbs.abi.VerbsStructures.SendRequest;
import io.rdma4j.verbs.abi.VerbsStructures.WindowFields;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Translates {@code struct ibv_send_wr} to {@link SendWorkRequest}. Guarded by the lock of a {@link SendPoster}. */
final class SendTranslation implements AutoCloseable {
    private static final String POST = "ibv_post_send";

    /** A window has no local rights. Programs add this one as for a region, and cards ignore it. */
    private static final int LOCAL_WRITE = AccessFlag.LOCAL_WRITE.bit();

    /** The sets of placement types by their bits. */
    private static final List<Set<PlacementType>> PLACEMENTS = List.of(
            Set.of(),
            Set.of(PlacementType.GLOBAL),
            Set.of(PlacementType.PERSISTENT),
            EnumSet.allOf(PlacementType.class));

    private final boolean isDatagram;
    private final boolean isExtended;
    private final MemoryLookup memory;
    private final InlineData inline;

    SendTranslation(QueuePair queuePair, Domain domain) {
        isDatagram = queuePair.type() == QueuePairType.UNRELIABLE_DATAGRAM;
        isExtended = queuePair.type() == QueuePairType.XRC_SEND;
        memory = new MemoryLookup(domain);
        inline = new InlineData(domain, queuePair.capabilities().maxInlineBytes());
    }

    /** Starts a burst, which can use all memory for inline data. */
    void begin() {
        inline.clear();
    }

    /**
     * Starts a burst for a whole chain, with memory for all its inline data.
     *
     * @param first the address of the first request
     */
    void begin(long first) {
        long bytes = 0;
        for (long request = first; request != 0; request = Native.longAt(request + SendRequest.NEXT)) {
            if ((Native.intAt(request + SendRequest.FLAGS) & Flags.SEND_INLINE) != 0) {
                bytes += inline.roomFor(
                        Native.longAt(request + SendRequest.LIST), Native.intAt(request + SendRequest.LIST_LENGTH));
            }
        }
        if (bytes > 0) {
            inline.clear(bytes);
        }
    }

    /**
     * Fills a request.
     *
     * @param from the address of the request in native memory
     * @return false if the memory for inline data is full; the request must then wait for the next burst
     * @throws RdmaException {@code EINVAL} if the request is wrong, {@code EOPNOTSUPP} for an operation that no device
     *     has
     */
    boolean fill(SendWorkRequest request, long from) {
        request.reset(Native.longAt(from + SendRequest.ID));
        fillOperation(request, from, Native.intAt(from + SendRequest.OPCODE));
        if (isDatagram) {
            fillDestination(request, from);
        } else if (isExtended) {
            request.toSharedReceiveQueue(Native.intAt(from + SendRequest.XRC_SHARED_RECEIVE_QUEUE));
        }
        int flags = Native.intAt(from + SendRequest.FLAGS);
        fillFlags(request, flags);
        long elements = Native.longAt(from + SendRequest.LIST);
        int count = Native.intAt(from + SendRequest.LIST_LENGTH);
        if (!request.opcode().hasLocalMemory()) {
            return true;
        }
        if ((flags & Flags.SEND_INLINE) != 0) {
            return inline.add(request.inline(), elements, count);
        }
        memory.addAll(request.list(), elements, count);
        return true;
    }

    private static void fillFlags(SendWorkRequest request, int flags) {
        if ((flags & Flags.SEND_SIGNALED) != 0) {
            request.signaled();
        }
        if ((flags & Flags.SEND_SOLICITED) != 0) {
            request.solicited();
        }
        if ((flags & Flags.SEND_FENCED) != 0) {
            request.fenced();
        }
    }

    private static void fillOperation(SendWorkRequest request, long from, int code) {
        switch (SendOpcode.ofCode(code).orElse(null)) {
            case null -> throw Failures.unsupported(POST, "opcode " + code);
            case SEND -> {}
            case SEND_WITH_IMMEDIATE -> request.withImmediate(immediate(from));
            case SEND_WITH_INVALIDATE -> request.withInvalidate(Native.intAt(from + SendRequest.INVALIDATE_KEY));
            case RDMA_WRITE -> request.write(rdmaAddress(from), rdmaKey(from));
            case RDMA_WRITE_WITH_IMMEDIATE ->
                request.write(rdmaAddress(from), rdmaKey(from)).withImmediate(immediate(from));
            case RDMA_READ -> request.read(rdmaAddress(from), rdmaKey(from));
            case COMPARE_AND_SWAP ->
                request.compareAndSwap(
                        atomicAddress(from),
                        atomicKey(from),
                        atomicValue(from),
                        Native.longAt(from + SendRequest.ATOMIC_SWAP));
            case FETCH_AND_ADD -> request.fetchAndAdd(atomicAddress(from), atomicKey(from), atomicValue(from));
            case ATOMIC_WRITE -> request.atomicWrite(atomicAddress(from), atomicKey(from), atomicValue(from));
            case FLUSH -> fillFlush(request, from);
            case LOCAL_INVALIDATE -> request.localInvalidate(Native.intAt(from + SendRequest.INVALIDATE_KEY));
            case BIND_MEMORY_WINDOW -> fillBinding(request, from);
        }
    }

    private static int immediate(long from) {
        return Integer.reverseBytes(Native.intAt(from + SendRequest.IMMEDIATE));
    }

    private static long rdmaAddress(long from) {
        return Native.longAt(from + SendRequest.RDMA_ADDRESS);
    }

    private static int rdmaKey(long from) {
        return Native.intAt(from + SendRequest.RDMA_KEY);
    }

    private static long atomicAddress(long from) {
        return Native.longAt(from + SendRequest.ATOMIC_ADDRESS);
    }

    private static long atomicValue(long from) {
        return Native.longAt(from + SendRequest.ATOMIC_COMPARE_OR_ADD);
    }

    private static int atomicKey(long from) {
        return Native.intAt(from + SendRequest.ATOMIC_KEY);
    }

    private static void fillFlush(SendWorkRequest request, long from) {
        long kind = Native.longAt(from + SendRequest.ATOMIC_SWAP);
        int types = (int) kind & 0xff;
        int level = (int) (kind >>> 8);
        long length = atomicValue(from);
        if (types == 0 || types >= PLACEMENTS.size() || level > 1 || length < 0) {
            throw Failures.invalid(POST, "FLUSH of type " + types + ", level " + level + ", length " + length);
        }
        if (level == 0) {
            request.flush(atomicAddress(from), atomicKey(from), length, PLACEMENTS.get(types));
        } else {
            request.flushRegion(atomicKey(from), PLACEMENTS.get(types));
        }
    }

    private static void fillBinding(SendWorkRequest request, long from) {
        long window = Native.longAt(from + SendRequest.BIND_WINDOW);
        if (window == 0) {
            throw Failures.invalid(POST, "the request to bind has no memory window");
        }
        int handle = Native.intAt(window + WindowFields.HANDLE);
        request.bind(Handles.of(handle, MemoryWindow.class), Native.intAt(from + SendRequest.BIND_KEY));
        long region = Native.longAt(from + SendRequest.BIND_REGION);
        long length = Native.longAt(from + SendRequest.BIND_LENGTH);
        if (region == 0 || length == 0) {
            return; // unbinds the window
        }
        MemoryRegion bound = Handles.of(Native.intAt(region + RegionFields.HANDLE), Region.class)
                .region();
        request.boundTo(
                bound,
                Native.longAt(from + SendRequest.BIND_ADDRESS) - bound.address(),
                length,
                QueuePairCodec.accessFlags(Native.intAt(from + SendRequest.BIND_ACCESS) & ~LOCAL_WRITE));
    }

    private static void fillDestination(SendWorkRequest request, long from) {
        long destination = Native.longAt(from + SendRequest.DATAGRAM_ADDRESS_HANDLE);
        if (destination == 0) {
            throw Failures.invalid(POST, "the datagram has no address handle");
        }
        request.to(
                Handles.of(Native.intAt(destination + AddressHandleFields.HANDLE), AddressHandle.class),
                Native.intAt(from + SendRequest.DATAGRAM_QUEUE_PAIR),
                Native.intAt(from + SendRequest.DATAGRAM_QUEUE_KEY));
    }

    @Override
    public void close() {
        inline.close();
    }
}
