package io.rdma4j.hardware.cm;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.abi.CmNumbers;
import io.rdma4j.cm.abi.CmStructures;
import io.rdma4j.hardware.system.DescriptorHandler;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.abi.Fields;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * This process's access to the kernel's connection manager. It has one device file, and the receivers of events by the
 * numbers of the identifiers and joins. Thread safe.
 *
 * <p>The event lock serialises the events of all identifiers. An identifier takes it to ensure that none of its events
 * is being reported.
 */
final class KernelCm implements DescriptorHandler {
    private static final System.Logger LOGGER = System.getLogger(KernelCm.class.getName());

    /** Receives the events of one identifier or of one join, under the event lock. */
    @FunctionalInterface
    interface Receiver {
        void onEvent(KernelEvent event);
    }

    private final CommandFile file;
    private final ReentrantLock eventLock = new ReentrantLock();
    private final Map<Long, Receiver> receivers = new ConcurrentHashMap<>();

    /** The last number that was given out. 0 means a request that is not accepted. No number is reused. */
    private final AtomicLong lastUid = new AtomicLong();

    KernelCm(CommandFile file) {
        this.file = file;
    }

    CommandFile file() {
        return file;
    }

    /** Returns a number for the events of an identifier or a join. */
    long nextUid() {
        return lastUid.incrementAndGet();
    }

    /** Adds the receiver of a number's events. Call it before the kernel knows the number. */
    void add(long uid, Receiver receiver) {
        receivers.put(uid, receiver);
    }

    /** Removes the receiver of a number's events. It receives no events afterwards. */
    void remove(long uid) {
        remove(uid, () -> {});
    }

    /** Removes the receiver of a number's events, and runs a task under the event lock. */
    void remove(long uid, Runnable more) {
        eventLock.lock();
        try {
            receivers.remove(uid);
            more.run();
        } finally {
            eventLock.unlock();
        }
    }

    /**
     * Creates an identifier.
     *
     * @param uid the number of its events
     * @return the kernel's number of the identifier
     */
    int createId(long uid, PortSpace portSpace, QueuePairType queuePairType) {
        try (Command command = new Command(
                CmNumbers.CREATE_ID,
                CmStructures.CreateId.BYTES,
                CmStructures.CreateId.RESPONSE,
                CmStructures.CreatedId.BYTES)) {
            Fields.putLong(command.structure(), CmStructures.CreateId.UID, uid);
            Fields.putShort(command.structure(), CmStructures.CreateId.PORT_SPACE, portSpace.code());
            Fields.putByte(command.structure(), CmStructures.CreateId.QUEUE_PAIR_TYPE, queuePairType.code());
            command.send(file, "rdma_create_id", () -> "port space " + portSpace + ", " + queuePairType);
            return Fields.intAt(command.response(), CmStructures.CreatedId.ID);
        }
    }

    /** Reads all available events and passes them on. */
    @Override
    public void onReadable() {
        eventLock.lock();
        try {
            for (KernelEvent event = next(); event != null; event = next()) {
                dispatch(event);
            }
        } finally {
            eventLock.unlock();
        }
    }

    /** Passes on all available events, and returns the source's value before any further event. */
    <T> T afterEvents(Supplier<T> source) {
        eventLock.lock();
        try {
            onReadable();
            return source.get();
        } finally {
            eventLock.unlock();
        }
    }

    /** Returns the next event, or null if there is none. */
    private @Nullable KernelEvent next() {
        try (Command command = new Command(
                CmNumbers.GET_EVENT,
                CmStructures.GetEvent.BYTES,
                CmStructures.GetEvent.RESPONSE,
                CmStructures.Event.BYTES)) {
            int error = command.write(file);
            if (error == 0) {
                return KernelEvent.copyOf(command.response());
            }
            if (error != Errno.EAGAIN.number()) {
                LOGGER.log(
                        System.Logger.Level.ERROR,
                        "cannot read events of the kernel's connection manager: " + Errno.of(error));
            }
            return null;
        }
    }

    private void dispatch(KernelEvent event) {
        Receiver receiver = receivers.get(event.uid());
        if (receiver != null) {
            receiver.onEvent(event);
        } else if (event.type() == CmEvent.Type.CONNECT_REQUEST) {
            destroyRequest(event.id());
        }
    }

    /** Destroys the identifier of a request, which rejects the request: its listener has been closed meanwhile. */
    private void destroyRequest(int id) {
        try {
            new IdCommands(file, id, () -> "a request to a closed listener").destroy();
        } catch (RdmaException destroyedAlready) {
            // The device has been removed with all its connections.
            return;
        }
    }
}
