package io.rdma4j.soft.device;

import io.rdma4j.transport.MemoryFaults;
import io.rdma4j.transport.ScatterGather;
import io.rdma4j.transport.SendRequest;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ScatterGatherList;
import io.rdma4j.verbs.SendWorkRequest;
import java.lang.foreign.MemorySegment;

/** Checks work requests and copies them to the queue. */
final class WorkRequestChecks {
    private static final int ATOMIC_BYTES = 8;

    private WorkRequestChecks() {}

    /** Checks that a request fits the queue pair, before anything is copied. */
    static void check(SoftQueuePair queuePair, SendWorkRequest request) {
        QueuePairCapabilities capabilities = queuePair.capabilities();
        ScatterGatherList list = request.list();
        SendOpcode opcode = request.opcode();
        checkOpcode(queuePair, request);
        boolean atomic = opcode.isAtomic();
        if (list.count() > capabilities.maxSendScatterGather() && !request.isInline()) {
            throw refusal(
                    queuePair,
                    list.count() + " pieces, but it takes " + capabilities.maxSendScatterGather(),
                    "Create the queue pair with a larger max_send_sge");
        }
        long total = list.totalBytes();
        if (total > SoftDevice.MAX_MESSAGE_BYTES) {
            throw refusal(queuePair, total + " bytes", "A message has at most 2^31 bytes: post several requests");
        }
        if (atomic && total != ATOMIC_BYTES) {
            throw refusal(queuePair, opcode + " with " + total + " bytes", "Provide 8 bytes for the old value");
        }
        checkLocalMemory(queuePair, request);
        if (request.isInline()) {
            if (atomic || opcode == SendOpcode.RDMA_READ || opcode == SendOpcode.BIND_MEMORY_WINDOW) {
                throw refusal(queuePair, opcode + " inline", "Only SEND and RDMA WRITE can be inline");
            }
            if (total > capabilities.maxInlineBytes()) {
                throw refusal(
                        queuePair,
                        total + " inline bytes, but it takes " + capabilities.maxInlineBytes(),
                        "Post it without inline, or create the queue pair with a larger max_inline_data");
            }
        }
    }

    /** Checks that a FLUSH or an ATOMIC WRITE has no local memory, and the length of the range of a FLUSH. */
    private static void checkLocalMemory(SoftQueuePair queuePair, SendWorkRequest request) {
        SendOpcode opcode = request.opcode();
        if (opcode != SendOpcode.FLUSH && opcode != SendOpcode.ATOMIC_WRITE) {
            return;
        }
        if (request.list().count() > 0 || request.isInline()) {
            throw refusal(
                    queuePair,
                    opcode + (request.isInline() ? " inline" : " with local memory"),
                    "Post it without local memory: a FLUSH has no data, and an ATOMIC WRITE has its value in the request");
        }
        if (request.flushLengthBytes() > SoftDevice.MAX_MESSAGE_BYTES && opcode == SendOpcode.FLUSH) {
            throw refusal(
                    queuePair,
                    "a FLUSH of " + request.flushLengthBytes() + " bytes",
                    "A range has at most 2^31 bytes: post several requests, or flush the whole region");
        }
    }

    private static void checkOpcode(SoftQueuePair queuePair, SendWorkRequest request) {
        SendOpcode opcode = request.opcode();
        boolean isSend = opcode == SendOpcode.SEND || opcode == SendOpcode.SEND_WITH_IMMEDIATE;
        boolean isWrite = opcode == SendOpcode.RDMA_WRITE || opcode == SendOpcode.RDMA_WRITE_WITH_IMMEDIATE;
        switch (queuePair.type()) {
            case RELIABLE_CONNECTION -> {}
            case XRC_SEND -> {
                int number = request.sharedReceiveQueueNumber();
                if (number >>> 24 != 0) {
                    throw refusal(
                            queuePair,
                            "shared receive queue 0x" + Integer.toHexString(number),
                            "The peer's number has 24 bits: SendWorkRequest.toSharedReceiveQueue");
                }
            }
            case XRC_RECEIVE ->
                throw refusal(
                        queuePair, opcode + " from the target of an extended connection", "Use an XRC_SEND queue pair");
            case UNRELIABLE_CONNECTION -> {
                if (!isSend && !isWrite && !opcode.isLocal()) {
                    throw refusal(
                            queuePair,
                            opcode + " over an unreliable connection",
                            "It supports SEND and RDMA WRITE, with or without immediate data, and memory windows; use a"
                                    + " reliable connection for the others");
                }
            }
            case UNRELIABLE_DATAGRAM -> {
                if (!isSend) {
                    throw refusal(
                            queuePair,
                            opcode + " as a datagram",
                            "Datagrams support SEND, with or without immediate data; use a connection for the others");
                }
                checkDestination(queuePair, request);
            }
        }
    }

    private static void checkDestination(SoftQueuePair queuePair, SendWorkRequest request) {
        AddressHandle handle = request.addressHandle();
        if (!(handle instanceof SoftAddressHandle soft)
                || !soft.protectionDomain().equals(queuePair.protectionDomain())
                || soft.isClosed()) {
            String problem = handle == null
                    ? "no destination"
                    : handle + " is "
                            + (handle.protectionDomain().equals(queuePair.protectionDomain())
                                    ? "closed"
                                    : "of another protection domain");
            throw refusal(queuePair, problem, "Set the destination of the datagram: SendWorkRequest.to");
        }
    }

    private static RdmaException refusal(SoftQueuePair queuePair, String problem, String hint) {
        return new RdmaException("ibv_post_send", Errno.EINVAL, queuePair + ": " + problem, hint);
    }

    /** Copies a request that was checked. Nothing is posted if it throws. */
    static void fill(SendRequest slot, SendWorkRequest request, SoftProtectionDomain domain) {
        slot.workRequestId = request.id();
        slot.opcode = request.opcode();
        slot.signaled = request.isSignaled();
        slot.solicited = request.isSolicited();
        slot.fence = request.isFenced();
        slot.immediate = request.immediateData();
        slot.invalidateKey = request.invalidateKey();
        slot.remoteSharedReceiveQueue = request.sharedReceiveQueueNumber();
        slot.remoteAddress = request.remoteAddress();
        slot.remoteKey = request.remoteKey();
        if (request.addressHandle() instanceof SoftAddressHandle handle) {
            slot.destination = handle.route();
            slot.remoteQueuePair = request.remoteQueuePairNumber() & 0xff_ffff;
            slot.queueKey = request.remoteQueueKey();
        }
        slot.compare = request.compareValue();
        slot.swapOrAdd = request.swapOrAddValue();
        slot.flushPlacement = request.placementBits();
        slot.flushSelectivity = request.selectivity().code();
        slot.flushBytes = request.flushLengthBytes();
        slot.inline = request.isInline();
        slot.lengthBytes = request.list().totalBytes();
        fillBinding(slot, request, domain);
        if (slot.inline) {
            try {
                copyInline(request.list(), slot.inlineData);
            } catch (InternalError e) {
                throw new RdmaException(
                        "ibv_post_send",
                        Errno.EFAULT,
                        "the inline data lie in a mapped file that was truncated, or whose disk is full",
                        "Keep the file as long as its mapping, and allocate its blocks",
                        e);
            }
        } else {
            copyList("ibv_post_send", request.list(), slot.list, domain);
        }
    }

    private static void fillBinding(SendRequest slot, SendWorkRequest request, SoftProtectionDomain domain) {
        if (request.opcode() != SendOpcode.BIND_MEMORY_WINDOW) {
            return;
        }
        MemoryRegion region = request.bindRegion();
        if (!(request.memoryWindow() instanceof SoftMemoryWindow window)
                || window.protectionDomain() != domain
                || region != null && !(region instanceof SoftMemoryRegion soft && soft.protectionDomain() == domain)) {
            throw new RdmaException(
                    "ibv_post_send",
                    Errno.EINVAL,
                    "the memory window or the region is of another protection domain",
                    "Create both in the queue pair's protection domain");
        }
        slot.window = window.window();
        slot.bindRegion = region instanceof SoftMemoryRegion soft ? soft.region() : null;
        slot.bindOffset = request.bindOffsetBytes();
        slot.bindLength = request.bindLengthBytes();
        slot.bindAccess = AccessFlag.bits(request.bindAccess());
    }

    private static void copyInline(ScatterGatherList list, MemorySegment target) {
        long at = 0;
        for (int i = 0; i < list.count(); i++) {
            MemorySegment memory = list.region(i).memory();
            long offset = list.offsetBytes(i);
            long length = list.lengthBytes(i);
            if (offset > memory.byteSize() - length) { // the region was re-registered since the piece was added
                throw new RdmaException(
                        "ibv_post_send",
                        Errno.EINVAL,
                        "piece " + i + " ends after the " + memory.byteSize() + " bytes of " + list.region(i),
                        "Add the pieces again after the memory of a region has changed");
            }
            MemorySegment.copy(memory, offset, target, at, length);
            at += length;
        }
        MemoryFaults.report();
    }

    /** Copies a list of pieces, all of which must belong to the domain. */
    static void copyList(String operation, ScatterGatherList from, ScatterGather to, SoftProtectionDomain domain) {
        to.clear();
        for (int i = 0; i < from.count(); i++) {
            MemoryRegion region = from.region(i);
            if (!(region instanceof SoftMemoryRegion soft) || region.protectionDomain() != domain) {
                to.clear();
                throw new RdmaException(
                        operation,
                        Errno.EINVAL,
                        "piece " + i + " is memory of another protection domain",
                        "Register the memory in the queue pair's protection domain");
            }
            to.add(soft.region(), from.offsetBytes(i), from.lengthBytes(i));
        }
    }
}
