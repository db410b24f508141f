package io.rdma4j.cm;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.util.function.Supplier;
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
        start(() -> AddressInformation.find(node, service, hints));
    }

    void start(Supplier<AddressInformation> search) {
        id.locked(RESOLVE, () -> startThread(search));
        id.events.complete(RESOLVE);
    }

    private synchronized void startThread(Supplier<AddressInformation> search) {
        if (pending) {
            throw new RdmaException(
                    RESOLVE,
                    Errno.EBUSY,
                    id + " has a lookup in progress, or its result was not retrieved",
                    "Wait for ADDRESS_INFORMATION_RESOLVED and call queryAddressInformation");
        }
        Thread.ofVirtual().name("rdma4j-lookup").start(() -> lookUp(search));
        pending = true; // not before the start, which may fail
    }

    private void lookUp(Supplier<AddressInformation> search) {
        try {
            complete(search.get());
            report(new CmEvent.Notice(CmEvent.Type.ADDRESS_INFORMATION_RESOLVED));
        } catch (RdmaException failed) {
            fail(failed.errno(), String.valueOf(failed.getMessage()));
        } catch (RuntimeException failed) {
            fail(Errno.EIO, failed.toString());
        } catch (Error failed) { // without the event, a synchronous caller would wait indefinitely
            fail(Errno.ENOMEM, failed.toString());
        }
    }

    private void fail(Errno errno, String text) {
        complete(null);
        report(new CmEvent.Failure(CmEvent.Type.ADDRESS_INFORMATION_ERROR, -errno.number(), text));
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
