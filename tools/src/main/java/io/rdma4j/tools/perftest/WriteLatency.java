package io.rdma4j.tools.perftest;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * RDMA WRITEs to and fro: each side waits until the last byte of its memory is the number of the next message. The server
 * begins.
 */
final class WriteLatency extends LatencyLoop {
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();

    WriteLatency(Settings settings, Resources resources, Completions sends, Completions receives) {
        super(settings, resources, sends, receives);
    }

    @Override
    void run(long sizeBytes) throws PerftestFailure {
        QueuePairRun queuePairRun = queuePairRun();
        queuePairRun.prepare(sizeBytes, false);
        MemorySegment memory = queuePairRun.region().memory();
        long writeAt = queuePairRun.sendAt() + sizeBytes - 1;
        long readAt = queuePairRun.receiveAt() + sizeBytes - 1;
        long limit = limit();
        boolean begins = !settings.isClient();
        long sent = 0;
        long received = 0;
        startTime();
        sends.expect(sizeBytes);
        while ((sent < limit || received < limit) && !phases.isOver()) {
            if (received < limit && (sent > 0 || !begins)) {
                received++;
                await(memory, readAt, (byte) received);
            }
            if (sent < limit && !phases.isOver()) {
                BYTE.setRelease(memory, writeAt, (byte) (sent + 1));
                post((int) sent, true);
                sent++;
                awaitSend();
                count();
            }
        }
    }

    private void await(MemorySegment memory, long at, byte value) throws PerftestFailure {
        while ((byte) BYTE.getAcquire(memory, at) != value && !phases.isOver()) {
            sends.poll(); // which keeps the device going; nothing is under way that could be done
            if (sends.isSilent()) {
                throw sends.lost();
            }
        }
    }
}
