package io.rdma4j.tools.command;

import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.sockets.RdmaDatagramSocket;
import io.rdma4j.sockets.RdmaSocketFactory;
import io.rdma4j.sockets.RdmaStreamSocket;
import io.rdma4j.soft.warmup.PrivateStack;
import io.rdma4j.verbs.Device;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;

/**
 * The devices, identifiers and sockets that a tool uses: those of this process or, while the tool warms up, those of a
 * private stack. Thread safe.
 */
public interface RdmaAccess extends AutoCloseable {
    /** The devices of this process, which the options of all tools select. Closing it has no effect. */
    RdmaAccess OF_PROCESS = new RdmaAccess() {
        @Override
        public List<Device> devices() {
            return Device.chosen();
        }

        @Override
        public Optional<Device> deviceOf(InetAddress address) {
            return Device.of(address);
        }

        @Override
        public ConnectionManager connectionManager() {
            return ConnectionManager.ofProcess();
        }

        @Override
        public RdmaStreamSocket openStreamSocket() {
            return RdmaStreamSocket.open();
        }

        @Override
        public RdmaDatagramSocket openDatagramSocket() {
            return RdmaDatagramSocket.open();
        }

        @Override
        public void close() {}
    };

    /** Returns access to the devices of a private stack. It must be closed before the stack. */
    static RdmaAccess of(PrivateStack stack) {
        RdmaSocketFactory sockets = new RdmaSocketFactory(stack.connectionManager());
        return new RdmaAccess() {
            @Override
            public List<Device> devices() {
                return stack.devices();
            }

            @Override
            public Optional<Device> deviceOf(InetAddress address) {
                return stack.deviceOf(address);
            }

            @Override
            public ConnectionManager connectionManager() {
                return stack.connectionManager();
            }

            @Override
            public RdmaStreamSocket openStreamSocket() {
                return sockets.openStreamSocket();
            }

            @Override
            public RdmaDatagramSocket openDatagramSocket() {
                return sockets.openDatagramSocket();
            }

            @Override
            public void close() {
                sockets.close();
            }
        };
    }

    /** Returns the devices. */
    List<Device> devices();

    /** Returns the device that has a local address. */
    Optional<Device> deviceOf(InetAddress address);

    /** Returns the connection manager of the devices. */
    ConnectionManager connectionManager();

    /** Opens a stream socket over the devices. */
    RdmaStreamSocket openStreamSocket();

    /** Opens a datagram socket over the devices. */
    RdmaDatagramSocket openDatagramSocket();

    @Override
    void close();
}
