package io.rdma4j.hardware.system;

/** Reads a descriptor that has become readable. */
@FunctionalInterface
public interface DescriptorHandler {
    /**
     * Reads everything that is there, and raises the signals of what has arrived. Any thread may call this, two at the same
     * time, too. It does not wait for anything but the other call.
     * It is called again soon if it throws.
     */
    void onReadable();
}
