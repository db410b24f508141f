package io.rdma4j.sockets.io;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.cm.PortSpace;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/**
 * Takes the events of the connection manager to the endpoints that they are for, in one thread that does nothing else: data
 * never wait for it. Made when the first socket is; its thread is a daemon.
 */
final class ConnectionService {
    /** Handles the events of one identifier, in the service's thread. */
    interface Target {
        /**
         * Something has happened to the identifier, or a request has come for it ({@link CmEvent#id} is then new).
         *
         * @param event acknowledged after this
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
     * The service, started at the first call.
     *
     * @throws io.rdma4j.verbs.RdmaException {@code ENODEV} if this host has no device; the next call tries again
     */
    static synchronized ConnectionService instance() {
        ConnectionService running = instance;
        if (running == null) {
            running = new ConnectionService();
            instance = running;
        }
        return running;
    }

    /** Makes an identifier whose events go to a target. */
    CmId createId(Target target) {
        return channel.createId(PortSpace.TCP, target);
    }

    private void run() {
        while (true) {
            CmEvent event = channel.await();
            if (event == null) {
                Thread.interrupted(); // nobody has a reason to interrupt this thread
            } else {
                handle(event);
            }
        }
    }

    /** Whatever goes wrong for one socket, also an error of the virtual machine, the others need this thread. */
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
