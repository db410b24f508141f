package io.rdma4j.soft.device;

import io.rdma4j.soft.SecurityOptions;
import io.rdma4j.transport.SourcePortCheck;
import io.rdma4j.verbs.Gid;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What connection management tells the data path of peers' queue pairs: which of them are rdma4j's, whose packets keep to one
 * UDP port. Thread safe.
 */
public final class Peers {
    private record QueuePair(Gid address, int number) {}

    private final SecurityOptions.SourcePort sourcePort;

    /** Queue pairs of rdma4j, and who told of them. */
    private final ConcurrentHashMap<QueuePair, Object> kin = new ConcurrentHashMap<>();

    /** Knows nobody. */
    Peers(SecurityOptions.SourcePort sourcePort) {
        this.sourcePort = sourcePort;
    }

    /**
     * A connection is being made with a queue pair of rdma4j.
     *
     * @param teller who says so, for {@link #forget}
     */
    public void noteKin(Gid address, int number, Object teller) {
        kin.put(new QueuePair(address, number), teller);
    }

    /** Takes {@link #noteKin} back, unless somebody else has said the same since. */
    public void forget(Gid address, int number, Object teller) {
        kin.remove(new QueuePair(address, number), teller);
    }

    /** What a connection to a queue pair is to do with packets from another UDP port. */
    SourcePortCheck sourcePortCheck(Gid address, int number) {
        return switch (sourcePort) {
            case OFF -> SourcePortCheck.OFF;
            case COUNT -> SourcePortCheck.COUNT;
            case ENFORCE -> SourcePortCheck.ENFORCE;
            case AUTO ->
                kin.containsKey(new QueuePair(address, number)) ? SourcePortCheck.ENFORCE : SourcePortCheck.COUNT;
        };
    }
}
