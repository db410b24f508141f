package io.rdma4j.exec.cm;

/** A multicast group that an identifier has joined. Its fields that change are guarded by the lock of {@link CmFiles}. */
final class Membership {
    final Identifier owner;

    /** The program's number, by which it knows the events. */
    final long uid;

    private int number = -1;

    /** The events that the program has taken. */
    int eventsReported;

    Membership(Identifier owner, long uid) {
        this.owner = owner;
        this.uid = uid;
    }

    /** Sets the number, once. */
    void number(int value) {
        number = value;
    }

    int number() {
        return number;
    }
}
