package io.rdma4j.tools.cmtime;

import io.rdma4j.value.QueuePairState;

/** A state change of a queue pair, with the two steps that its parts are timed as. */
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

    /** Returns the step in which the connection manager supplies the attributes. */
    Step attributes() {
        return attributes;
    }

    /** Returns the step in which the state changes. */
    Step change() {
        return change;
    }
}
