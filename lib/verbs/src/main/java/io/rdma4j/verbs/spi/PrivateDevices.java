package io.rdma4j.verbs.spi;

import io.rdma4j.verbs.Device;

/** Two devices that reach only each other, to warm up code before it is needed. Thread safe. */
public interface PrivateDevices extends AutoCloseable {
    /** Returns one of the devices. */
    Device first();

    /** Returns the other device. */
    Device second();

    /** Closes all open objects of the devices. */
    @Override
    void close();
}
