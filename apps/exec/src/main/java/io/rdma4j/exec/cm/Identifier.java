package io.rdma4j.exec.cm;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.spi.CmEventSink;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An identifier of the program. The kernel's counterpart is {@code struct ucma_context}. Thread safe.
 *
 * <p>The lock of {@link CmFiles} guards the memberships, and the fields that are not final.
 */
final class Identifier implements CmEventSink {
    private final CmFiles files;
    final PortSpace portSpace;
    final QueuePairType queuePairType;

    /** Held by a command while it uses the provider's identifier. */
    final Object commandLock = new Object();

    private @Nullable ProviderCmId provider;
    private CmFile file;
    private long uid;
    private int number = -1;
    private int eventsReported;
    private final Set<Membership> memberships = new HashSet<>();

    /**
     * Creates an identifier that has no provider yet.
     *
     * @param uid the program's number, or 0 for the identifier of a connection request, which gets one when it is
     *     accepted
     */
    Identifier(CmFiles files, CmFile file, long uid, PortSpace portSpace, QueuePairType queuePairType) {
        this.files = files;
        this.file = file;
        this.uid = uid;
        this.portSpace = portSpace;
        this.queuePairType = queuePairType;
    }

    CmFiles files() {
        return files;
    }

    /** Sets the provider's identifier, before another thread can find this one. */
    void provider(ProviderCmId created) {
        synchronized (files) {
            provider = created;
        }
    }

    /** Returns the provider's identifier. */
    ProviderCmId provider() {
        synchronized (files) {
            ProviderCmId current = provider;
            if (current == null) {
                throw new IllegalStateException("an identifier with a number has a provider");
            }
            return current;
        }
    }

    /**
     * Returns the provider's identifier if it has a device.
     *
     * @throws RdmaException {@code EINVAL} if it has no device, as in the kernel
     */
    ProviderCmId withDevice() {
        ProviderCmId current = provider();
        if (current.device() == null) {
            throw Request.invalid("the identifier has no device");
        }
        return current;
    }

    /** Returns whether events have the parameters of datagrams. */
    boolean isDatagram() {
        return queuePairType == QueuePairType.UNRELIABLE_DATAGRAM;
    }

    // ---- state under the lock of the files

    CmFile file() {
        return file;
    }

    void file(CmFile current) {
        file = current;
    }

    int number() {
        return number;
    }

    void number(int value) {
        number = value;
    }

    int eventsReported() {
        return eventsReported;
    }

    void countReported() {
        eventsReported++;
    }

    Set<Membership> memberships() {
        return memberships;
    }

    /** Sets the program's number, and returns the previous one. */
    long exchangeUid(long value) {
        synchronized (files) {
            long before = uid;
            uid = value;
            return before;
        }
    }

    // ---- events

    /** Executes a request whose answer is an event. The caller holds the command lock. */
    void ask(Runnable request) {
        synchronized (files) {
            file.beginExpecting(this);
        }
        boolean asked = false;
        try {
            request.run();
            asked = true;
        } finally {
            if (!asked) {
                synchronized (files) {
                    file.endExpecting(this);
                }
            }
        }
    }

    @Override
    public void onEvent(CmEvent event) {
        synchronized (files) {
            file.endExpecting(this);
            switch (event) {
                case CmEvent.MulticastJoin join -> addOfGroup(join.context(), event);
                case CmEvent.MulticastError error -> addOfGroup(error.context(), event);
                default -> {
                    // Without the program's number, the request is not accepted yet, and accepting it will fail.
                    if (uid != 0) {
                        file.add(new PendingEvent(this, null, null, uid, number, event));
                    }
                }
            }
        }
    }

    private void addOfGroup(@Nullable Object group, CmEvent event) {
        if (group instanceof Membership membership && memberships.contains(membership)) {
            file.add(new PendingEvent(this, null, membership, membership.uid, membership.number(), event));
        }
    }

    @Override
    public CmEventSink onConnectRequest(ProviderCmId child, CmEvent.ConnectRequest event) {
        synchronized (files) {
            Identifier created = new Identifier(files, file, 0, portSpace, queuePairType);
            created.provider = child;
            files.add(created);
            file.add(new PendingEvent(this, created, null, uid, created.number, event));
            return created;
        }
    }

    @Override
    public boolean onRequestDiscarded() {
        return files.discard(this);
    }
}
