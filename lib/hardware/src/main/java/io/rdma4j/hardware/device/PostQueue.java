package io.rdma4j.hardware.device;

import io.rdma4j.hardware.library.Downcalls;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.PartialPostException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.spi.SpinLock;
import io.rdma4j.verbs.spi.StackReserve;
import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;

/**
 * Posts work requests to a queue of a device, through the driver's function pointer. Allocates nothing. Thread safe.
 *
 * @param <R> the type of the requests
 */
final class PostQueue<R> {
    /** Writes a request into a chain. */
    interface Writer<R> {
        void write(WorkRequests chain, int index, R request);
    }

    private final HardwareObject queue;
    private final String operation;
    private final MemorySegment function;
    private final Writer<R> writer;
    private final Supplier<String> condition;
    private final WorkRequests chain;
    private final SpinLock lock = new SpinLock();

    /**
     * Creates a queue.
     *
     * @param condition describes the queue when the driver refuses a request, for the message
     */
    PostQueue(
            HardwareObject queue,
            String operation,
            int functionOffset,
            WorkRequests chain,
            Writer<R> writer,
            Supplier<String> condition) {
        this.queue = queue;
        this.operation = operation;
        this.function = queue.context().function(functionOffset);
        this.chain = chain;
        this.writer = writer;
        this.condition = condition;
    }

    /**
     * Posts one request.
     *
     * @throws RdmaException if the driver refuses it
     */
    void post(R request) {
        StackReserve.require();
        int error;
        lock.lock();
        try {
            requireOpen();
            writer.write(chain, 0, request);
            chain.end(0);
            error = Downcalls.data(function, queue.pointer(), chain.first(), chain.refused());
        } finally {
            chain.release();
            lock.unlock();
        }
        if (error != 0) {
            throw refusal(error);
        }
    }

    /**
     * Posts several requests in order.
     *
     * @throws PartialPostException if the driver refuses a request, or a request does not fit the queue
     */
    void post(R[] requests, int count) {
        int posted = 0;
        while (posted < count) {
            int length = Math.min(WorkRequests.CHAIN, count - posted);
            postChain(requests, posted, length);
            posted += length;
        }
    }

    private void postChain(R[] requests, int from, int length) {
        StackReserve.require();
        lock.lock();
        try {
            requireOpen();
            int written = 0;
            RdmaException unfit = null;
            try {
                while (written < length) {
                    writer.write(chain, written, requests[from + written]);
                    written++;
                }
            } catch (RdmaException refused) {
                unfit = refused;
            }
            if (written > 0) {
                chain.end(written - 1);
                int error = Downcalls.data(function, queue.pointer(), chain.first(), chain.refused());
                if (error != 0) {
                    throw new PartialPostException(from + chain.refusedIndex(), refusal(error));
                }
            }
            if (unfit != null) {
                throw new PartialPostException(from + written, unfit);
            }
        } finally {
            chain.release();
            lock.unlock();
        }
    }

    private void requireOpen() {
        if (!queue.handle().isOpen()) {
            throw Handle.closed(operation, queue);
        }
    }

    private RdmaException refusal(int error) {
        Errno errno = Errno.of(Math.abs(error));
        return new RdmaException(
                operation,
                errno,
                condition.get(),
                errno == Errno.ENOMEM ? "The queue is full: poll completions, or create it larger" : "");
    }

    /** Waits until no call is in progress. The queue's handle is closed. */
    void drain() {
        lock.lock();
        lock.unlock();
    }
}
