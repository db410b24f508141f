package io.rdma4j.verbs;

import io.rdma4j.value.Gid;
import io.rdma4j.verbs.wait.Waitable;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An open device, from which all other objects are created. C: {@code struct ibv_context}. Thread safe.
 *
 * <p>Closing the device closes all objects that were created from it.
 */
public interface DeviceContext extends AutoCloseable {
    /** Returns the device. */
    Device device();

    /** Returns the limits and features of the device. C: {@code ibv_query_device_ex}. */
    DeviceAttributes attributes();

    /**
     * Returns the attributes of a port. C: {@code ibv_query_port}.
     *
     * @param port port number, from 1
     * @throws RdmaException {@code EINVAL} if the device has no such port
     */
    PortAttributes port(int port);

    /**
     * Returns the GIDs of a port in table order, {@link Gid#ZERO} for an empty entry. C: {@code ibv_query_gid}.
     *
     * @param port port number, from 1
     * @throws RdmaException {@code EINVAL} if the device has no such port
     */
    List<Gid> gids(int port);

    /**
     * Returns the GID at an index of the table, {@link Gid#ZERO} for an empty entry. C: {@code ibv_query_gid}.
     *
     * @param port port number, from 1
     * @param index index in the table, from 0
     * @throws RdmaException {@code EINVAL} if the port or the index does not exist
     */
    Gid gid(int port, int index);

    /**
     * Returns the nonempty entries of the GID table. C: {@code ibv_query_gid_table}, or {@code ibv_query_gid_ex} for
     * one entry.
     *
     * @param port port number, from 1
     * @throws RdmaException {@code EINVAL} if the device has no such port
     */
    List<GidEntry> gidTable(int port);

    /**
     * Returns the index of a GID in the table of a port, or -1. If a network card has several entries for an address,
     * one for each packet format, returns the entry for RoCE v2, or otherwise the first. C:
     * {@code ibv_query_gid_table}.
     *
     * @param port port number, from 1
     * @throws RdmaException {@code EINVAL} if the device has no such port
     */
    default int gidIndex(int port, Gid gid) {
        int index = -1;
        for (GidEntry entry : gidTable(port)) {
            if (entry.gid().equals(gid)) {
                if (entry.type() == GidEntry.Type.ROCE_V2) {
                    return entry.index();
                }
                index = index < 0 ? entry.index() : index;
            }
        }
        return index;
    }

    /**
     * Returns the partition key at an index of the table: 16 bits, with the membership in the highest bit. C:
     * {@code ibv_query_pkey}.
     *
     * @param port port number, from 1
     * @param index index in the table, from 0
     * @throws RdmaException {@code EINVAL} if the port or the index does not exist
     */
    int partitionKey(int port, int index);

    /**
     * Returns the index of a partition key. C: {@code ibv_get_pkey_index}.
     *
     * @param port port number, from 1
     * @param key 16 bits
     * @return the index, from 0, or -1 if the key is not in the table
     * @throws RdmaException {@code EINVAL} if the device has no such port
     */
    int partitionKeyIndex(int port, int key);

    /**
     * Creates a protection domain. Memory and queue pairs of the same domain can be used together. C: {@code
     * ibv_alloc_pd}.
     *
     * @throws RdmaException {@code ENOMEM} if the limit of the device is reached
     */
    ProtectionDomain createProtectionDomain();

    /**
     * Creates a domain for extended reliable connections. C: {@code ibv_open_xrcd} without a file.
     *
     * @throws RdmaException {@code ENOMEM} if the limit of the device is reached
     */
    XrcDomain openXrcDomain();

    /** Creates a completion channel to wait for completions. C: {@code ibv_create_comp_channel}. */
    CompletionChannel createCompletionChannel();

    /**
     * Returns the number of completion vectors, at least 1. They are numbered from 0. C: {@code num_comp_vectors} of
     * {@code struct ibv_context}.
     */
    int completionVectors();

    /**
     * Creates a completion queue that is only polled, at completion vector 0. C: {@code ibv_create_cq} without a
     * channel.
     *
     * @param entries minimum capacity, from 1
     * @throws RdmaException {@code EINVAL} if {@code entries} is out of range, {@code ENOMEM} if the limit of the
     *     device is reached
     */
    default CompletionQueue createCompletionQueue(int entries) {
        return createCompletionQueue(entries, null, null, 0);
    }

    /**
     * Creates a completion queue with a channel, at completion vector 0. C: {@code ibv_create_cq}.
     *
     * @param entries minimum capacity, from 1
     * @param channel channel for its events
     * @throws RdmaException {@code EINVAL} if {@code entries} is out of range or the channel is closed, {@code ENOMEM}
     *     if the limit of the device is reached
     */
    default CompletionQueue createCompletionQueue(int entries, CompletionChannel channel) {
        return createCompletionQueue(entries, null, channel, 0);
    }

    /**
     * Creates a completion queue at a completion vector. C: {@code ibv_create_cq}.
     *
     * <p>A completion vector is a part of the device that works independently. On a network card it is usually an
     * interrupt, which the driver or the administrator assigns to a core. It then affects queues with a channel. On the
     * software device it is an engine, and it affects every queue. The engine drives the queue pairs of reliable and
     * unreliable connections that use this queue for send completions. The engine of vector 0 also drives the
     * connection manager, datagrams, multicast groups and extended connections.
     *
     * <p>A program with one thread per core should give the completion queue of each thread a separate vector, so that
     * the threads share no lock. If there are fewer vectors than threads, the number of the thread modulo
     * {@link #completionVectors} distributes them evenly. Both completion queues of a queue pair should be created at
     * the same vector, because a thread that polls a queue drives its engine.
     *
     * @param entries minimum capacity, from 1
     * @param userContext arbitrary object of the application, or null
     * @param channel channel for its events, or null if it is only polled
     * @param completionVector completion vector, from 0, less than {@link #completionVectors}
     * @throws RdmaException {@code EINVAL} if {@code entries} or {@code completionVector} is out of range,
     *     {@code ENOMEM} if the limit of the device is reached
     */
    default CompletionQueue createCompletionQueue(
            int entries, @Nullable Object userContext, @Nullable CompletionChannel channel, int completionVector) {
        return createCompletionQueue(
                new CompletionQueueInitAttributes(entries, userContext, channel, completionVector, false));
    }

    /**
     * Creates a completion queue. C: {@code ibv_create_cq_ex}.
     *
     * @throws RdmaException {@code EINVAL} if the entries or the completion vector are out of range, {@code ENOMEM} if
     *     the limit of the device is reached
     */
    CompletionQueue createCompletionQueue(CompletionQueueInitAttributes attributes);

    /**
     * Waits for the next asynchronous event of the device and its objects, takes it and acknowledges it. C: {@code
     * ibv_get_async_event}, followed by {@code ibv_ack_async_event}.
     *
     * @param timeout maximum time to wait; zero does not wait
     * @return the event, or null after the timeout
     * @throws ClosedException if the device is closed
     * @throws RdmaException {@code EINTR} if the thread is interrupted; its interrupt status stays set
     */
    @Nullable
    AsyncEvent awaitAsyncEvent(Duration timeout);

    /**
     * Waits for the next asynchronous event and takes it without acknowledging it. Closing the event's source blocks
     * until {@link #acknowledge}, so the source stays open while the event is handled. C: {@code ibv_get_async_event}.
     *
     * @param timeout maximum time to wait; zero does not wait
     * @return the event, or null after the timeout
     * @throws ClosedException if the device is closed
     * @throws RdmaException {@code EINTR} if the thread is interrupted; its interrupt status stays set
     */
    @Nullable
    AsyncEvent takeAsyncEvent(Duration timeout);

    /**
     * Returns an object to wait for asynchronous events together with other objects; always the same one. It is ready
     * while an event is available for {@link #takeAsyncEvent}, and after the device is closed. C: {@code
     * ibv_context.async_fd}.
     */
    Waitable asyncEvents();

    /**
     * Acknowledges an event of {@link #takeAsyncEvent}. C: {@code ibv_ack_async_event}.
     *
     * @throws RdmaException {@code EINVAL} if the event's source has no unacknowledged event
     */
    void acknowledge(AsyncEvent event);

    /**
     * Returns the sums of the counters of all current and former queue pairs of this process on the device. They have
     * the names of {@link QueuePair#counters}. Counters with names that start with {@code process_} cover all devices
     * of the process. A hardware device returns the driver's counters, which cover the whole host. C: the files in
     * {@code hw_counters} of the port.
     */
    Map<String, Long> counters();

    /**
     * Converts a time of {@link System#nanoTime}, such as {@link WorkCompletion#timestampNanos}, to the system's clock.
     * {@link CompletionQueue#wallClockNanos} also converts times of the device's clock.
     *
     * @param timestampNanos time in nanoseconds; on a test network, a time of the network's clock
     * @return nanoseconds since 1970
     */
    long wallClockNanos(long timestampNanos);

    /** Closes the device and all objects that were created from it. C: {@code ibv_close_device}. */
    @Override
    void close();
}
