package io.rdma4j;

import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.WorkCompletion;

/**
 * A message that the peer has sent. It occupies one of the places for messages of its connection until it is closed, so a program that
 * keeps all of them makes the peer wait. A write with immediate data arrives as an empty message.
 *
 * <p>The object and its memory are reused for another message after {@link #close}: a program must not use them afterwards.
 * Thread safe, but the content is for one user at a time.
 */
public final class Message extends ReceivePlace {
    Message(ReceiveQueue<?> queue, int number, Buffer whole) {
        super(queue, number, whole);
    }

    @Override
    void open(WorkCompletion completion) {
        boolean isWrite = completion.opcode() == CompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE;
        open(completion, 0, isWrite ? 0 : completion.byteLength());
    }

    @Override
    public String toString() {
        return isOpen() ? "message of " + lengthBytes() + " bytes" : "closed message";
    }
}
