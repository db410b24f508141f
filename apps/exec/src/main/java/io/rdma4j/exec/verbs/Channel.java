package io.rdma4j.exec.verbs;

import io.rdma4j.exec.bridge.Readiness;
import io.rdma4j.verbs.CompletionChannel;

/** A completion channel with its eventfd. C: {@code struct ibv_comp_channel}. Thread safe. */
final class Channel implements AutoCloseable {
    private final CompletionChannel channel;
    private final Readiness readiness;

    /** Creates a channel of a device. The descriptor is readable while the channel has events. */
    Channel(OpenDevice device, int descriptor) {
        channel = device.context().createCompletionChannel();
        readiness = new Readiness(channel, descriptor, device.descriptors());
        readiness.start();
    }

    CompletionChannel channel() {
        return channel;
    }

    /** Returns the readiness of the descriptor. It must be updated when events are taken or removed. */
    Readiness readiness() {
        return readiness;
    }

    @Override
    public void close() {
        channel.close();
        readiness.close();
    }
}
