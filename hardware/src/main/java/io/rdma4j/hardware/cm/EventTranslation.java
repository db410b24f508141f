package io.rdma4j.hardware.cm;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.ConnectionEnhancement;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.DatagramParameters;
import io.rdma4j.cm.spi.ConnectionExplanations;
import io.rdma4j.cm.spi.ProviderEvent;
import io.rdma4j.hardware.cm.IdProgress.Stage;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/** Turns events of the kernel into those of a provider, and notes in which stage the identifier then is. */
final class EventTranslation {
    private EventTranslation() {}

    /** Returns the event of a peer's request. */
    static ProviderEvent ofRequest(KernelEvent event, boolean isDatagram) {
        return isDatagram
                ? new ProviderEvent(
                        CmEvent.Type.CONNECT_REQUEST,
                        0,
                        ConnectionParameters.NONE.withPrivateData(event.datagramPrivateData()),
                        "")
                : ProviderEvent.ofMessage(CmEvent.Type.CONNECT_REQUEST, event.connection(), event.enhancement());
    }

    /** Returns any other event of an identifier. */
    static ProviderEvent of(
            KernelEvent event, CmEvent.Type type, KernelCmId id, IdAddresses addresses, IdProgress progress) {
        int status = event.status();
        return switch (type) {
            case ADDRESS_RESOLVED -> addressResolved(id, progress);
            case ADDRESS_ERROR -> {
                progress.enter(Stage.BOUND);
                yield failed(type, status, CmFailures.unresolved("address", id.describe(), status));
            }
            case ROUTE_RESOLVED -> {
                progress.enter(Stage.ROUTE_RESOLVED);
                yield ProviderEvent.of(type);
            }
            case ROUTE_ERROR -> {
                progress.enter(Stage.ADDRESS_RESOLVED);
                yield failed(type, status, CmFailures.unresolved("route", id.describe(), status));
            }
            case ESTABLISHED -> established(event, id, progress);
            case CONNECT_ERROR, UNREACHABLE, REJECTED -> ended(event, type, id, addresses, progress);
            case DISCONNECTED -> {
                progress.enter(Stage.DISCONNECTED);
                yield failed(
                        type, status, status == 0 ? "" : ConnectionExplanations.disconnectUnanswered(id.describe()));
            }
            case TIMEWAIT_EXIT -> {
                progress.enter(Stage.ENDED);
                yield ProviderEvent.of(type);
            }
            case DEVICE_REMOVAL -> {
                progress.enter(Stage.DEVICE_REMOVED);
                Device device = addresses.device();
                yield failed(type, status, CmFailures.removed(device == null ? "" : device.name()));
            }
            default -> ProviderEvent.ofMessage(type, parameters(event, id), event.enhancement());
        };
    }

    private static ProviderEvent failed(CmEvent.Type type, int status, String explanation) {
        return new ProviderEvent(type, status, ConnectionParameters.NONE, explanation);
    }

    /** As in librdmacm, an address without a device that this process can use is not resolved. */
    private static ProviderEvent addressResolved(KernelCmId id, IdProgress progress) {
        try {
            id.updateAddresses();
            progress.enter(Stage.ADDRESS_RESOLVED);
            return ProviderEvent.of(CmEvent.Type.ADDRESS_RESOLVED);
        } catch (RdmaException gone) {
            int status = -gone.errno().number();
            return failed(CmEvent.Type.ADDRESS_ERROR, status, CmFailures.unresolved("address", id.describe(), status));
        }
    }

    private static ProviderEvent established(KernelEvent event, KernelCmId id, IdProgress progress) {
        progress.enter(Stage.CONNECTED);
        @Nullable DatagramParameters datagram = id.isDatagram() ? event.datagram(false) : null;
        return new ProviderEvent(
                CmEvent.Type.ESTABLISHED,
                event.status(),
                parameters(event, id),
                datagram,
                null,
                ConnectionEnhancement.NONE,
                0,
                "");
    }

    private static ProviderEvent ended(
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
        return new ProviderEvent(type, status, parameters(event, id), explanation);
    }

    /** Returns the parameters of an event; of a datagram service, the private data. */
    private static ConnectionParameters parameters(KernelEvent event, KernelCmId id) {
        return id.isDatagram()
                ? ConnectionParameters.NONE.withPrivateData(event.datagramPrivateData())
                : event.connection();
    }
}
