package io.rdma4j.hardware.system;

/** Reads a descriptor that has become readable. */
@FunctionalInterface
public interface DescriptorHandler {
    /**
     * Reads all available input, and raises the signals of the objects that received some. Any thread may call this,
     * even two at the same time: one then waits for the other, and for nothing else. If it throws, it is called again
     * soon.
     */
    void onReadable();
}
