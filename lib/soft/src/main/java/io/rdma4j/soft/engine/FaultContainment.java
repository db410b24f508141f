package io.rdma4j.soft.engine;

import io.rdma4j.verbs.spi.SharedThread;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Handles exceptions and Errors that reach the end of a duty cycle (decision 053). Used under the engine lock.
 *
 * <p>An exception or Error in the work for one queue pair was caught before, and has failed that queue pair ({@link
 * DrivenQueuePair#fail}). The others belong to no queue pair:
 *
 * <ul>
 *   <li>An {@link InternalError} is a fault in a mapped file that the Java virtual machine has reported late. It fails the queue
 *   pair that the engine worked for last, since nothing else accesses the program's memory.
 *   <li>An {@link OutOfMemoryError} while frames were received, before one was delivered, has lost the frames, like a full socket
 *   buffer. Nothing else happens.
 *   <li>All others may have left the engine's state half changed. They fail the device's queue pairs, like a fatal error of a
 *   network card. New queue pairs work.
 * </ul>
 */
final class FaultContainment {

    private final Engine engine;
    private @Nullable DrivenQueuePair worker;
    private boolean isReceiving;

    /** The error because of which all queue pairs must fail, or null. Any thread sets it. */
    private volatile @Nullable Throwable deviceFault;

    private final Consumer<DrivenQueuePair> failWithDevice = this::failWithDevice;

    FaultContainment(Engine engine) {
        this.engine = engine;
    }

    /** Notes the queue pair that the engine works for. Called for each packet. */
    void workFor(DrivenQueuePair queuePair) {
        worker = queuePair;
    }

    /** Forgets a queue pair that is removed, which would otherwise remain reachable until the engine works for another one. */
    void forget(DrivenQueuePair removed) {
        if (removed.equals(worker)) {
            worker = null;
        }
    }

    /** Notes that the engine starts or stops receiving frames. */
    void receiving(boolean value) {
        isReceiving = value;
    }

    /** Sets the error with which {@link #failWithDevice} fails queue pairs. Any thread. */
    void failAllSoon(Throwable fault) {
        deviceFault = fault;
    }

    boolean mustFailAll() {
        return deviceFault != null;
    }

    /** Returns the action that fails a queue pair with its device. */
    Consumer<DrivenQueuePair> failWithDevice() {
        return failWithDevice;
    }

    private void failWithDevice(DrivenQueuePair queuePair) {
        Throwable fault = deviceFault;
        if (fault != null) {
            queuePair.fail(fault);
            engine.activate(queuePair);
        }
    }

    void onAllFailed() {
        engine.counters().deviceFaults++;
        deviceFault = null;
    }

    /** Handles an exception or Error from a part of a duty cycle. Never throws. */
    void onFault(Throwable fault) {
        boolean wasReceiving = isReceiving;
        isReceiving = false;
        DrivenQueuePair last = worker;
        if (fault instanceof InternalError && last != null) {
            last.fail(fault);
            engine.activate(last);
        } else if (fault instanceof OutOfMemoryError && wasReceiving) {
            engine.counters().inputFaults++;
            SharedThread.report(FaultContainment.class, "frames were lost for lack of memory", fault);
        } else {
            SharedThread.report(
                    FaultContainment.class, "an engine failed: its queue pairs are moved to the error state", fault);
            engine.engines().onDeviceFault(engine, fault);
        }
    }
}
