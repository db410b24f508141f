package io.rdma4j.sockets.stream;

/**
 * The free entries of the send queue. Four are reserved for control messages, so that data never delays credit or the
 * end of a stream.
 */
final class SendSlots {
    private static final int CONTROL = 4;

    private final int total;
    private int data;
    private int control = CONTROL;

    SendSlots(int sendQueue) {
        total = sendQueue;
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

    void releaseData() {
        data++;
    }

    void releaseControl() {
        control++;
    }

    boolean allFree() {
        return data + control == total;
    }
}
