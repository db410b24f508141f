package io.rdma4j.verbs;

import java.time.Duration;
import java.util.List;
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
     * Makes a protection domain: memory and queue pairs of one domain can be used together. C: {@code ibv_alloc_pd}.
     *
     * @throws RdmaException {@code ENOMEM} if there are too many
     */
    ProtectionDomain createProtectionDomain();

    /** Makes a completion channel, to wait for completions. C: {@code ibv_create_comp_channel}. */
    CompletionChannel createCompletionChannel();

    /**
     * Makes a completion queue. C: {@code ibv_create_cq}.
     *
     * @param entries completions that it must hold at least, from 1
     * @param context anything that the application wants to find again at the queue
     * @param channel where its events go, or null if it is only polled
     * @throws RdmaException {@code EINVAL} if {@code entries} is out of range, {@code ENOMEM} if there are too many
     */
    CompletionQueue createCompletionQueue(int entries, @Nullable Object context, @Nullable CompletionChannel channel);

    /**
     * Takes the next asynchronous event of the device and its objects; waits for one.
     *
     * <p>C: {@code ibv_get_async_event}, with the acknowledgement of {@code ibv_ack_async_event}.
     *
     * @param timeout how long to wait at most; zero does not wait
     * @return the event, or null if none came in time or the thread was interrupted (its flag stays set)
     */
    @Nullable
    AsyncEvent awaitAsyncEvent(Duration timeout);

    /** Closes the device with all that was made from it. C: {@code ibv_close_device}. */
    @Override
    void close();
}
