package io.rdma4j.sockets.io;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.cm.PortSpace;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.wait.WaitDriver;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/**
 * Dispatches the events of the connection manager to endpoints, in a dedicated thread, so that data never waits for
 * them. Created with the first socket; its thread is a daemon.
 */
final class ConnectionService {
    /** Handles the events of one identifier, in the service's thread. */
    interface Target {
        /**
         * Handles an event of the identifier, or a connection request for it ({@link CmEvent#id} is then new).
         *
         * @param event the event, acknowledged after this call
         */
        void onEvent(CmEvent event);
    }

    private static final Logger LOGGER = System.getLogger(ConnectionService.class.getName());

    private static @Nullable ConnectionService instance;

    private final EventChannel channel = EventChannel.open();

    private ConnectionService() {
        Thread.ofPlatform().daemon().name("rdma4j-sockets").start(this::run);
    }

    /**
     * Returns the service, which the first call starts.
     *
     * @throws RdmaException {@code ENODEV} if this host has no device; the next call tries again
     */
    static synchronized ConnectionService instance() {
        ConnectionService running = instance;
        if (running == null) {
            running = new ConnectionService();
            instance = running;
        }
        return running;
    }

    /** Returns what makes progress while a thread waits for a connection. */
    WaitDriver waitDriver() {
        return channel.waitDriver();
    }

    /** Creates an identifier whose events go to a target. */
    CmId createId(Target target) {
        return channel.createId(PortSpace.TCP, target);
    }

    private void run() {
        while (true) {
            try {
                handle(channel.await());
            } catch (RdmaException interrupted) {
                var _ = Thread.interrupted(); // no code has a reason to interrupt this thread
            }
        }
    }

    /**
     * Handles an event. A failure for one socket, even an error of the JVM, must not end the thread that the others
     * need.
     */
    private static void handle(CmEvent event) {
        CmId listener = event.listenId();
        Object target = listener == null ? event.id().context() : listener.context();
        try (event) {
            if (target instanceof Target endpoint) {
                endpoint.onEvent(event);
            }
        } catch (RuntimeException | Error failed) {
            LOGGER.log(Level.WARNING, "Event lost: " + event, failed);
        }
    }
}
