package io.rdma4j.sockets.stream;

/**
 * The places of the send queue: most for data, four for control messages, so that data never keep the peer from hearing of
 * credit or the end.
 */
final class SendSlots {
    private static final int CONTROL = 4;

    private final int all;
    private int data;
    private int control = CONTROL;

    SendSlots(int sendQueue) {
        all = sendQueue;
        data = sendQueue - CONTROL;
    }

    boolean hasData(int count) {
        return data >= count;
    }

    boolean hasControl(int count) {
        return control >= count;
    }

    void takeData(int count) {
        data -= count;
    }

    void takeControl(int count) {
        control -= count;
    }

    void giveData() {
        data++;
    }

    void giveControl() {
        control++;
    }

    boolean allFree() {
        return data + control == all;
    }
}
