package io.rdma4j.cm;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * The background address lookups of an identifier. One lookup is in progress at a time. Its result can be retrieved
 * once.
 */
final class IdLookup {
    private static final String RESOLVE = "rdma_resolve_addrinfo";

    private final CmId id;
    private boolean pending;
    private @Nullable AddressInformation result;

    IdLookup(CmId id) {
        this.id = id;
    }

    void start(@Nullable String node, @Nullable String service, AddressInformation.@Nullable Hints hints) {
        id.locked(RESOLVE, () -> startThread(node, service, hints));
        id.events.complete(RESOLVE);
    }

    private synchronized void startThread(
            @Nullable String node, @Nullable String service, AddressInformation.@Nullable Hints hints) {
        if (pending) {
            throw new RdmaException(
                    RESOLVE,
                    Errno.EBUSY,
                    id + " has a lookup in progress, or its result was not retrieved",
                    "Wait for ADDRESS_INFORMATION_RESOLVED and call queryAddressInformation");
        }
        pending = true;
        Thread.ofVirtual().name("rdma4j-lookup").start(() -> lookUp(node, service, hints));
    }

    private void lookUp(@Nullable String node, @Nullable String service, AddressInformation.@Nullable Hints hints) {
        try {
            complete(AddressInformation.find(node, service, hints));
            report(new CmEvent.Notice(CmEvent.Type.ADDRESS_INFORMATION_RESOLVED));
        } catch (RdmaException failed) {
            complete(null);
            report(new CmEvent.Failure(
                    CmEvent.Type.ADDRESS_INFORMATION_ERROR,
                    -failed.errno().number(),
                    String.valueOf(failed.getMessage())));
        }
    }

    private synchronized void complete(@Nullable AddressInformation found) {
        result = found;
        pending = found != null;
    }

    private void report(CmEvent event) {
        try {
            id.locked(RESOLVE, () -> id.events.onEvent(event));
        } catch (RdmaException closedMeanwhile) {
            // The identifier is closed, so no caller waits for the result.
            return;
        }
    }

    synchronized AddressInformation query() {
        AddressInformation found = result;
        if (found == null) {
            throw new RdmaException(
                    "rdma_query_addrinfo",
                    Errno.ENOENT,
                    id + " has no lookup result",
                    "Look up a node or a service first, and query the result once");
        }
        result = null;
        pending = false;
        return found;
    }
}
