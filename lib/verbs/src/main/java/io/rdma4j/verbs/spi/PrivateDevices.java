package io.rdma4j.verbs.spi;

import io.rdma4j.verbs.Device;

/** Two devices that reach each other and nothing else, to run code before it is needed. Thread safe. */
public interface PrivateDevices extends AutoCloseable {
    /** Returns one of the devices. */
    Device first();

    /** Returns the other device. */
    Device second();

    /** Closes all that is open in the devices. */
    @Override
    void close();
}
