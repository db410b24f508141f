package io.rdma4j.exec.cm;

/** A multicast group that an identifier has joined. The lock of {@link CmFiles} guards the fields that change. */
final class Membership {
    final Identifier owner;

    /** The program's number for the group, which its events contain. */
    final long uid;

    private int number = -1;

    /** The number of events that the program has taken. */
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
