package io.rdma4j.sharing;

import io.rdma4j.link.ReceiveBurst;

/** Takes the frames that arrive at a port. Used under the engine lock; allocates nothing. */
public interface FrameReceiver {
    /** Processes frames that arrived at UDP port 4791, for this process or to be {@linkplain Port#relay relayed}. */
    void onFrames(long nowNanos, Port port, ReceiveBurst burst);

    /** Processes frames for this process, which the owner has relayed or another process has sent directly. */
    void onRelayedFrames(long nowNanos, Port port, ReceiveBurst burst);
}
