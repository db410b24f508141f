package io.rdma4j.hardware.cm;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.ConnectionEnhancement;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.spi.ConnectionExplanations;
import io.rdma4j.hardware.cm.IdProgress.Stage;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.RdmaException;

/** Translates the kernel's events into events of the provider, and updates the identifier's stage. */
final class EventTranslation {
    private EventTranslation() {}

    /** Returns the event for a peer's connection request. */
    static CmEvent.ConnectRequest ofRequest(KernelEvent event, boolean isDatagram) {
        return isDatagram
                ? new CmEvent.ConnectRequest(
                        ConnectionParameters.NONE.withPrivateData(event.datagramPrivateData()),
                        ConnectionEnhancement.NONE)
                : new CmEvent.ConnectRequest(event.connection(), event.enhancement());
    }

    /** Returns any other event of an identifier. */
    static CmEvent of(KernelEvent event, CmEvent.Type type, KernelCmId id, IdAddresses addresses, IdProgress progress) {
        int status = event.status();
        return switch (type) {
            case ADDRESS_RESOLVED -> addressResolved(id, progress);
            case ADDRESS_ERROR -> {
                progress.enter(Stage.BOUND);
                yield new CmEvent.Failure(type, status, CmFailures.unresolved("address", id.describe(), status));
            }
            case ROUTE_RESOLVED -> {
                progress.enter(Stage.ROUTE_RESOLVED);
                yield new CmEvent.Notice(type);
            }
            case ROUTE_ERROR -> {
                progress.enter(Stage.ADDRESS_RESOLVED);
                yield new CmEvent.Failure(type, status, CmFailures.unresolved("route", id.describe(), status));
            }
            case ESTABLISHED -> established(event, id, progress);
            case CONNECT_ERROR, UNREACHABLE, REJECTED -> ended(event, type, id, addresses, progress);
            case DISCONNECTED -> {
                progress.enter(Stage.DISCONNECTED);
                yield new CmEvent.Disconnected(
                        status, status == 0 ? "" : ConnectionExplanations.disconnectUnanswered(id.describe()));
            }
            case TIMEWAIT_EXIT -> {
                progress.enter(Stage.ENDED);
                yield new CmEvent.Notice(type);
            }
            case DEVICE_REMOVAL -> {
                progress.enter(Stage.DEVICE_REMOVED);
                Device device = addresses.device();
                yield new CmEvent.Notice(type, CmFailures.removed(device == null ? "" : device.name()));
            }
            case CONNECT_RESPONSE -> new CmEvent.ConnectResponse(parameters(event, id), event.enhancement());
            default -> new CmEvent.Notice(type);
        };
    }

    /** Reports an error, like librdmacm, if the address leads to a device that this process cannot use. */
    private static CmEvent addressResolved(KernelCmId id, IdProgress progress) {
        try {
            id.updateAddresses();
            progress.enter(Stage.ADDRESS_RESOLVED);
            return new CmEvent.Notice(CmEvent.Type.ADDRESS_RESOLVED);
        } catch (RdmaException gone) {
            int status = -gone.errno().number();
            return new CmEvent.Failure(
                    CmEvent.Type.ADDRESS_ERROR, status, CmFailures.unresolved("address", id.describe(), status));
        }
    }

    private static CmEvent established(KernelEvent event, KernelCmId id, IdProgress progress) {
        progress.enter(Stage.CONNECTED);
        return id.isDatagram()
                ? new CmEvent.ServiceResolved(event.datagram(false))
                : new CmEvent.Established(event.connection());
    }

    private static CmEvent ended(
            KernelEvent event, CmEvent.Type type, KernelCmId id, IdAddresses addresses, IdProgress progress) {
        boolean isActive = progress.stage() == Stage.CONNECTING;
        progress.enter(Stage.ENDED);
        String ends = id.describe();
        int status = event.status();
        String explanation = switch (type) {
            case REJECTED -> CmFailures.rejected(ends, addresses.peer(), status);
            case UNREACHABLE -> CmFailures.unreachable(ends, addresses.peer(), status, isActive, addresses.isIwarp());
            default -> CmFailures.notConnected(ends, status);
        };
        return type == CmEvent.Type.REJECTED
                ? new CmEvent.Rejected(status, parameters(event, id), explanation)
                : new CmEvent.Failure(type, status, parameters(event, id), explanation);
    }

    /** Returns the parameters of an event; for a datagram service, only the private data. */
    private static ConnectionParameters parameters(KernelEvent event, KernelCmId id) {
        return id.isDatagram()
                ? ConnectionParameters.NONE.withPrivateData(event.datagramPrivateData())
                : event.connection();
    }
}
