package io.rdma4j;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.RdmaException;

/** The events of a datagram socket: peers that request the number of its queue pair are answered. Thread safe. */
final class DatagramEvents extends ChannelEvents {
    private final QueuePair queuePair;

    /** Creates the events of an identifier that listens. */
    DatagramEvents(EventChannel channel, CmId id, QueuePair queuePair) {
        super(channel, id);
        this.queuePair = queuePair;
    }

    @Override
    void handle(CmEvent event) {
        switch (event.type()) {
            case CONNECT_REQUEST -> {
                event.acknowledge(); // closing the identifier of the request waits for it
                answer(event.id());
            }
            case DEVICE_REMOVAL -> end("the device of " + id() + " was removed");
            default -> {} // a changed address concerns no call
        }
    }

    private void answer(CmId request) {
        try (request) {
            request.accept(ConnectionParameters.NONE.withQueuePairNumber(queuePair.number()));
        } catch (RdmaException notAnswered) {
            return; // the peer repeats its request
        }
    }

    @Override
    void flush() {
        try {
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
        } catch (RdmaException endedAlready) {
            return; // its work requests are flushed
        }
    }
}
