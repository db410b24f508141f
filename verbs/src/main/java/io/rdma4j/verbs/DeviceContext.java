package io.rdma4j.verbs;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An open device: everything else is made from it. C: {@code struct ibv_context}. Thread safe.
 *
 * <p>Closing it closes all that was made from it.
 */
public interface DeviceContext extends AutoCloseable {
    /** The device. */
    Device device();

    /** What the device can do at most. C: {@code ibv_query_device}. */
    DeviceAttributes attributes();

    /**
     * A port.
     *
     * <p>C: {@code ibv_query_port}.
     *
     * @param port port number, from 1
     * @throws RdmaException {@code EINVAL} if there is no such port
     */
    PortAttributes port(int port);

    /**
     * The GIDs of a port in table order, {@link Gid#ZERO} for an empty place. C: {@code ibv_query_gid}.
     *
     * @param port port number, from 1
     * @throws RdmaException {@code EINVAL} if there is no such port
     */
    List<Gid> gids(int port);

    /**
     * The GID at a place of the table, {@link Gid#ZERO} for an empty one. C: {@code ibv_query_gid}.
     *
     * @param port port number, from 1
     * @param index place, from 0
     * @throws RdmaException {@code EINVAL} if there is no such port or place
     */
    Gid gid(int port, int index);

    /**
     * The places of the GID table that are not empty. C: {@code ibv_query_gid_table}; one of them, {@code
     * ibv_query_gid_ex}.
     *
     * @param port port number, from 1
     * @throws RdmaException {@code EINVAL} if there is no such port
     */
    List<GidEntry> gidTable(int port);

    /**
     * The partition key at a place of the table, 16 bits with the membership in the highest. C: {@code ibv_query_pkey}.
     *
     * @param port port number, from 1
     * @param index place, from 0
     * @throws RdmaException {@code EINVAL} if there is no such port or place
     */
    int partitionKey(int port, int index);

    /**
     * The place of a partition key. C: {@code ibv_get_pkey_index}.
     *
     * @param port port number, from 1
     * @param key 16 bits
     * @return place from 0, or -1 if it is not in the table
     * @throws RdmaException {@code EINVAL} if there is no such port
     */
    int partitionKeyIndex(int port, int key);

    /**
     * Makes a protection domain: memory and queue pairs of one domain can be used together. C: {@code ibv_alloc_pd}.
     *
     * @throws RdmaException {@code ENOMEM} if there are too many
     */
    ProtectionDomain createProtectionDomain();

    /**
     * Makes a domain for extended reliable connections. C: {@code ibv_open_xrcd} without a file.
     *
     * @throws RdmaException {@code ENOMEM} if there are too many
     */
    XrcDomain openXrcDomain();

    /** Makes a completion channel, to wait for completions. C: {@code ibv_create_comp_channel}. */
    CompletionChannel createCompletionChannel();

    /**
     * How many completion vectors there are, at least 1; they are counted from 0. C: {@code num_comp_vectors} of {@code
     * struct ibv_context}.
     */
    int completionVectors();

    /**
     * Makes a completion queue at completion vector 0. C: {@code ibv_create_cq} with a {@code comp_vector} of 0.
     *
     * @param entries completions that it must hold at least, from 1
     * @param userContext anything that the application wants to find again at the queue
     * @param channel where its events go, or null if it is only polled
     * @throws RdmaException {@code EINVAL} if {@code entries} is out of range, {@code ENOMEM} if there are too many
     */
    default CompletionQueue createCompletionQueue(
            int entries, @Nullable Object userContext, @Nullable CompletionChannel channel) {
        return createCompletionQueue(entries, userContext, channel, 0);
    }

    /**
     * Makes a completion queue at a completion vector. C: {@code ibv_create_cq}.
     *
     * <p>A vector stands for a part of the device that works by itself. At a card that is usually an interrupt, of which
     * its driver or the administrator says which core handles it, and it makes a difference to queues with a channel. At
     * the software device it is one of its engines, and makes a difference to every queue: the engine drives the queue
     * pairs of reliable and unreliable connections whose send completions arrive here. That of vector 0 drives the
     * connection manager, datagrams, multicast groups and extended connections, too.
     *
     * <p>So a program with a thread for each core gives the completion queue of each thread a vector of its own: the
     * threads share no lock then. Where there are fewer vectors than threads, the number of the thread modulo
     * {@link #completionVectors} spreads them evenly. Both completion queues of a queue pair are best made at one vector,
     * since who polls a queue drives its engine.
     *
     * @param entries completions that it must hold at least, from 1
     * @param userContext anything that the application wants to find again at the queue
     * @param channel where its events go, or null if it is only polled
     * @param completionVector from 0, less than {@link #completionVectors}
     * @throws RdmaException {@code EINVAL} if {@code entries} or {@code completionVector} is out of range, {@code ENOMEM}
     *     if there are too many
     */
    CompletionQueue createCompletionQueue(
            int entries, @Nullable Object userContext, @Nullable CompletionChannel channel, int completionVector);

    /**
     * Takes the next asynchronous event of the device and its objects; waits for one. Acknowledges it, too.
     *
     * <p>C: {@code ibv_get_async_event}, followed by {@code ibv_ack_async_event}.
     *
     * @param timeout how long to wait at most; zero does not wait
     * @return the event, or null if none came in time or the thread was interrupted (its flag stays set)
     */
    @Nullable
    AsyncEvent awaitAsyncEvent(Duration timeout);

    /**
     * Like {@link #awaitAsyncEvent}, but leaves the acknowledgement to the caller: until {@link #acknowledge}, closing the
     * object that the event happened to waits, so that who handles the event finds it open. C: {@code
     * ibv_get_async_event}.
     *
     * @param timeout how long to wait at most; zero does not wait
     */
    @Nullable
    AsyncEvent takeAsyncEvent(Duration timeout);

    /**
     * Acknowledges an event of {@link #takeAsyncEvent}. C: {@code ibv_ack_async_event}.
     *
     * @throws RdmaException {@code EINVAL} if no event of its source is to be acknowledged
     */
    void acknowledge(AsyncEvent event);

    /**
     * What happened to the queue pairs that this process has and had on the device, by the names of
     * {@link QueuePair#counters}; names that begin with {@code process_} count for all devices of the process together. C:
     * the files in {@code hw_counters} of the port, which count for the whole host.
     */
    Map<String, Long> counters();

    /**
     * What the system's clock showed at a time of the device's clock, which {@link WorkCompletion#timestampNanos} is of.
     * C: {@code ibv_query_rt_values_ex} tells the device's clock.
     *
     * @param timestampNanos time of the device's clock
     * @return nanoseconds since 1970
     */
    long wallClockNanos(long timestampNanos);

    /** Closes the device with all that was made from it. C: {@code ibv_close_device}. */
    @Override
    void close();
}
