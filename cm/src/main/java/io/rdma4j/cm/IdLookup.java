package io.rdma4j.cm;

import io.rdma4j.cm.spi.ProviderEvent;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/** The addresses that an identifier has looked up in the background: one look-up at a time, its result taken once. */
final class IdLookup {
    private static final String RESOLVE = "rdma_resolve_addrinfo";

    private final IdCore core;
    private boolean underWay;
    private @Nullable AddressInformation result;

    IdLookup(IdCore core) {
        this.core = core;
    }

    void start(@Nullable String node, @Nullable String service, AddressInformation.@Nullable Hints hints) {
        core.locked(RESOLVE, () -> begin(node, service, hints));
        core.complete(RESOLVE);
    }

    private synchronized void begin(
            @Nullable String node, @Nullable String service, AddressInformation.@Nullable Hints hints) {
        if (underWay) {
            throw new RdmaException(
                    RESOLVE,
                    Errno.EBUSY,
                    core.id() + " has looked something up that was not taken",
                    "Wait for ADDRESS_INFORMATION_RESOLVED and take it with queryAddressInformation");
        }
        underWay = true;
        Thread.ofVirtual().name("rdma4j-look-up").start(() -> lookUp(node, service, hints));
    }

    private void lookUp(@Nullable String node, @Nullable String service, AddressInformation.@Nullable Hints hints) {
        try {
            end(AddressInformation.lookUp(node, service, hints));
            tell(CmEvent.Type.ADDRESS_INFORMATION_RESOLVED, 0, "");
        } catch (RdmaException failed) {
            end(null);
            tell(CmEvent.Type.ADDRESS_INFORMATION_ERROR, -failed.errno().number(), String.valueOf(failed.getMessage()));
        }
    }

    private synchronized void end(@Nullable AddressInformation found) {
        result = found;
        underWay = found != null;
    }

    private void tell(CmEvent.Type type, int status, String explanation) {
        try {
            core.locked(
                    RESOLVE,
                    () -> core.sink().onEvent(new ProviderEvent(type, status, ConnectionParameters.NONE, explanation)));
        } catch (RdmaException closedMeanwhile) {
            // Nobody waits for it any more.
            return;
        }
    }

    synchronized AddressInformation query() {
        AddressInformation found = result;
        if (found == null) {
            throw new RdmaException(
                    "rdma_query_addrinfo",
                    Errno.ENOENT,
                    core.id() + " has nothing that was looked up",
                    "Look something up first, and take it once");
        }
        result = null;
        underWay = false;
        return found;
    }
}
