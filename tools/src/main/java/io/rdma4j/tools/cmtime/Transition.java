package io.rdma4j.tools.cmtime;

import io.rdma4j.verbs.QueuePairState;

/** A change of a queue pair's state, with the steps as which its two parts are timed. */
enum Transition {
    INIT(QueuePairState.INIT, Step.INIT_ATTRIBUTES, Step.INIT),
    READY_TO_RECEIVE(QueuePairState.READY_TO_RECEIVE, Step.READY_TO_RECEIVE_ATTRIBUTES, Step.READY_TO_RECEIVE),
    READY_TO_SEND(QueuePairState.READY_TO_SEND, Step.READY_TO_SEND_ATTRIBUTES, Step.READY_TO_SEND);

    private final QueuePairState target;
    private final Step attributes;
    private final Step change;

    Transition(QueuePairState target, Step attributes, Step change) {
        this.target = target;
        this.attributes = attributes;
        this.change = change;
    }

    QueuePairState target() {
        return target;
    }

    /** Asking the connection manager for the attributes. */
    Step attributes() {
        return attributes;
    }

    /** Changing the state. */
    Step change() {
        return change;
    }
}
