package io.rdma4j.hardware.device;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.abi.Native;
import io.rdma4j.verbs.abi.VerbsStructures.CompletionQueueFields;
import io.rdma4j.verbs.abi.VerbsStructures.ExtendedCompletionQueue;
import io.rdma4j.verbs.abi.VerbsStructures.ProtectionDomainFields;
import io.rdma4j.verbs.abi.VerbsStructures.QueuePairFields;
import io.rdma4j.verbs.abi.VerbsStructures.RegionFields;

/**
 * Compares fields of new objects with their expected values. This detects a library whose structures differ from the
 * tables of {@link io.rdma4j.verbs.abi}, before anything is written to a wrong offset.
 */
final class Layouts {
    private static final int[] POLL_FUNCTIONS = {
        ExtendedCompletionQueue.START,
        ExtendedCompletionQueue.NEXT,
        ExtendedCompletionQueue.END,
        ExtendedCompletionQueue.READ_OPCODE,
        ExtendedCompletionQueue.READ_LENGTH,
        ExtendedCompletionQueue.READ_IMMEDIATE,
        ExtendedCompletionQueue.READ_QUEUE_PAIR,
        ExtendedCompletionQueue.READ_SOURCE_QUEUE_PAIR,
        ExtendedCompletionQueue.READ_FLAGS,
        ExtendedCompletionQueue.READ_TIMESTAMP
    };

    /** HiSilicon's driver does not count the one entry of a queue that always stays empty. */
    private static final int UNUSED_ENTRIES = 1;

    private Layouts() {}

    static void requireDomain(long domain, long context) {
        require("struct ibv_pd", Native.longAt(domain + ProtectionDomainFields.CONTEXT) == context);
    }

    static void requireRegion(long region, long address, long bytes) {
        require(
                "struct ibv_mr",
                Native.longAt(region + RegionFields.ADDRESS) == address
                        && Native.longAt(region + RegionFields.LENGTH) == bytes);
    }

    static void requireQueuePair(long queuePair, long context, int type) {
        require(
                "struct ibv_qp",
                Native.longAt(queuePair + QueuePairFields.CONTEXT) == context
                        && Native.intAt(queuePair + QueuePairFields.TYPE) == type);
    }

    static void requireCompletionQueue(long queue, long context, int entries) {
        require(
                "struct ibv_cq",
                Native.longAt(queue + CompletionQueueFields.CONTEXT) == context
                        && Native.intAt(queue + CompletionQueueFields.CAPACITY) >= entries - UNUSED_ENTRIES);
    }

    /** Checks that a driver has set all functions for polling an extended queue. */
    static void requirePollFunctions(long fields) {
        for (int at : POLL_FUNCTIONS) {
            require("struct ibv_cq_ex", Native.longAt(fields + at) != 0);
        }
    }

    private static void require(String structure, boolean isAsExpected) {
        if (!isAsExpected) {
            throw new RdmaException(
                    "libibverbs.so.1",
                    Errno.EOPNOTSUPP,
                    structure + " of the installed library differs from the known structure",
                    "Use the software device (RDMA4J_DEVICE=soft), and report the version of rdma-core");
        }
    }
}
