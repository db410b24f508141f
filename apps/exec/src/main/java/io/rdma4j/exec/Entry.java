package io.rdma4j.exec;

import io.rdma4j.exec.bridge.Failures;
import io.rdma4j.exec.bridge.Operation;
import io.rdma4j.exec.cm.CmCalls;
import io.rdma4j.exec.verbs.CompletionCalls;
import io.rdma4j.exec.verbs.DeviceCalls;
import io.rdma4j.exec.verbs.MemoryCalls;
import io.rdma4j.exec.verbs.QueuePairCalls;
import io.rdma4j.exec.verbs.SharedReceiveCalls;
import io.rdma4j.verbs.Errno;

/** The entry point of control operations. C: {@code bridge_call}. Thread safe. */
public final class Entry {
    private Entry() {}

    /**
     * Executes a control operation.
     *
     * @param operation its number, a constant of {@link Operation}
     * @param arguments the address of its arguments, into which it writes its results
     * @return 0 or a positive error number; this method never throws
     */
    public static int call(int operation, long arguments) {
        try {
            return execute(operation, arguments);
        } catch (Throwable failure) {
            return Failures.errno(failure);
        }
    }

    private static int execute(int operation, long arguments) throws Exception {
        switch (operation) {
            case Operation.DEVICE_COUNT -> DeviceCalls.count(arguments);
            case Operation.DEVICE -> DeviceCalls.describe(arguments);
            case Operation.OPEN_DEVICE -> DeviceCalls.open(arguments);
            case Operation.CLOSE -> DeviceCalls.close(arguments);
            case Operation.QUERY_DEVICE -> DeviceCalls.query(arguments);
            case Operation.QUERY_PORT -> DeviceCalls.queryPort(arguments);
            case Operation.QUERY_GID -> {
                return DeviceCalls.queryGid(arguments);
            }
            case Operation.QUERY_PKEY -> DeviceCalls.queryPartitionKey(arguments);
            case Operation.ACK_ASYNC_EVENT -> DeviceCalls.acknowledgeAsyncEvent(arguments);
            case Operation.WALL_CLOCK -> DeviceCalls.wallClock(arguments);
            case Operation.OPEN_XRC_DOMAIN -> DeviceCalls.openXrcDomain(arguments);
            case Operation.ALLOCATE_DOMAIN -> MemoryCalls.allocateDomain(arguments);
            case Operation.REGISTER -> MemoryCalls.register(arguments);
            case Operation.REREGISTER -> MemoryCalls.reregister(arguments);
            case Operation.SET_ACCESSIBLE -> MemoryCalls.setAccessible(arguments);
            case Operation.ADVISE -> MemoryCalls.advise(arguments);
            case Operation.ALLOCATE_WINDOW -> MemoryCalls.allocateWindow(arguments);
            case Operation.CREATE_ADDRESS_HANDLE -> MemoryCalls.createAddressHandle(arguments);
            case Operation.CREATE_CHANNEL -> CompletionCalls.createChannel(arguments);
            case Operation.CREATE_CQ -> CompletionCalls.create(arguments);
            case Operation.RESIZE_CQ -> CompletionCalls.resize(arguments);
            case Operation.ACK_CQ_EVENTS -> CompletionCalls.acknowledge(arguments);
            case Operation.CREATE_QP -> QueuePairCalls.create(arguments);
            case Operation.MODIFY_QP -> QueuePairCalls.modify(arguments);
            case Operation.QUERY_QP -> QueuePairCalls.query(arguments);
            case Operation.ATTACH_MULTICAST -> QueuePairCalls.attachMulticast(arguments);
            case Operation.SET_RATE_LIMIT -> QueuePairCalls.setRateLimit(arguments);
            case Operation.CREATE_SRQ -> SharedReceiveCalls.create(arguments);
            case Operation.MODIFY_SRQ -> SharedReceiveCalls.modify(arguments);
            case Operation.QUERY_SRQ -> SharedReceiveCalls.query(arguments);
            case Operation.NEXT_ASYNC_EVENT -> {
                return DeviceCalls.nextAsyncEvent(arguments);
            }
            case Operation.NEXT_CHANNEL_EVENT -> {
                return CompletionCalls.nextEvent(arguments);
            }
            case Operation.CM_OPEN -> {
                return CmCalls.open(arguments);
            }
            case Operation.CM_WRITE -> {
                return CmCalls.write(arguments);
            }
            case Operation.CM_CLOSE -> {
                return CmCalls.close(arguments);
            }
            case Operation.FINISH -> {
                return CmCalls.finish();
            }
            default -> {
                return Errno.EINVAL.number();
            }
        }
        return 0;
    }
}
