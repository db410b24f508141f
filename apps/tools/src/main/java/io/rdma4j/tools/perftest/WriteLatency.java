package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.ToolFailure;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * A latency loop of RDMA WRITEs in alternating directions. Each side waits until the last byte of its memory is the
 * number of the next message. The server writes first.
 */
final class WriteLatency extends LatencyLoop {
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();

    WriteLatency(Settings settings, Resources resources, Completions sends, Completions receives) {
        super(settings, resources, sends, receives);
    }

    @Override
    void run(long sizeBytes) throws ToolFailure {
        QueuePairRun queuePairRun = queuePairRun();
        queuePairRun.prepare(sizeBytes, false);
        QueuePairRun receiver = receivers.getFirst();
        MemorySegment memory = queuePairRun.region().memory();
        MemorySegment receivedMemory = receiver.region().memory();
        long writeOffset = queuePairRun.sendOffset() + sizeBytes - 1;
        long readOffset = receiver.receiveOffset() + sizeBytes - 1;
        long limit = limit();
        boolean writesFirst = !settings.isClient();
        long sent = 0;
        long received = 0;
        startTime();
        sends.expect(sizeBytes);
        while ((sent < limit || received < limit) && !phases.isOver()) {
            if (received < limit && (sent > 0 || !writesFirst)) {
                received++;
                await(receivedMemory, readOffset, (byte) received);
            }
            if (sent < limit && !phases.isOver()) {
                BYTE.setRelease(memory, writeOffset, (byte) (sent + 1));
                post((int) sent, true);
                sent++;
                awaitSend();
                count();
            }
        }
    }

    private void await(MemorySegment memory, long offset, byte value) throws ToolFailure {
        while ((byte) BYTE.getAcquire(memory, offset) != value && !phases.isOver()) {
            sends.poll(); // drives the device; no completion is outstanding
            if (sends.isTimedOut()) {
                throw sends.lost();
            }
        }
    }
}
