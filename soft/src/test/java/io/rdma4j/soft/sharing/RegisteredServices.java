package io.rdma4j.soft.sharing;

import io.rdma4j.soft.engine.Engine;
import java.net.InetAddress;

/** Tells tests in other packages which service IDs a process has registered at an address. */
public final class RegisteredServices {
    private RegisteredServices() {}

    /** Returns whether requests at the address for the service ID go to the engine's process. */
    public static boolean isRegistered(Engine engine, InetAddress address, long serviceId) {
        return engine.findPort(address) instanceof HostPort port && port.serves(serviceId);
    }
}
