package io.rdma4j.exec.cm;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.abi.CmStructures.Bind;
import io.rdma4j.cm.abi.CmStructures.BindIp;
import io.rdma4j.cm.abi.CmStructures.ResolveAddress;
import io.rdma4j.cm.abi.CmStructures.ResolveIp;
import io.rdma4j.cm.abi.CmStructures.ResolveRoute;
import io.rdma4j.cm.abi.SocketAddresses;
import io.rdma4j.cm.host.RouteLookup;
import io.rdma4j.cm.spi.LocalAddresses;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.abi.Fields;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Binds identifiers, and resolves addresses and routes. Refuses InfiniBand addresses: librdmacm tries one when it
 * starts, and then uses only IP addresses.
 */
final class AddressCommands {
    private AddressCommands() {}

    static void bindIp(Request request) {
        MemorySegment bind = request.structure(BindIp.BYTES);
        bind(request.identifier(BindIp.ID), required(bind, BindIp.ADDRESS));
    }

    static void bind(Request request) {
        MemorySegment bind = request.structure(Bind.BYTES);
        requireSize(bind, Bind.ADDRESS, Fields.shortAt(bind, Bind.ADDRESS_BYTES));
        bind(request.identifier(Bind.ID), required(bind, Bind.ADDRESS));
    }

    private static void bind(Identifier identifier, InetSocketAddress local) {
        InetAddress address = local.getAddress();
        CmFiles files = identifier.files();
        if (!address.isAnyLocalAddress() && !files.allows(address)) {
            throw notAllowed("rdma_bind_addr", address);
        }
        synchronized (identifier.commandLock) {
            identifier.provider().bind(local);
        }
    }

    static void resolveIp(Request request) {
        MemorySegment resolve = request.structure(ResolveIp.BYTES);
        resolve(
                request.identifier(ResolveIp.ID),
                SocketAddresses.read(resolve, ResolveIp.SOURCE),
                required(resolve, ResolveIp.DESTINATION),
                millis(resolve, ResolveIp.TIMEOUT_MILLIS));
    }

    static void resolveAddress(Request request) {
        MemorySegment resolve = request.structure(ResolveAddress.BYTES);
        int sourceBytes = Fields.shortAt(resolve, ResolveAddress.SOURCE_BYTES);
        if (sourceBytes != 0) {
            requireSize(resolve, ResolveAddress.SOURCE, sourceBytes);
        }
        requireSize(resolve, ResolveAddress.DESTINATION, Fields.shortAt(resolve, ResolveAddress.DESTINATION_BYTES));
        resolve(
                request.identifier(ResolveAddress.ID),
                sourceBytes == 0 ? null : required(resolve, ResolveAddress.SOURCE),
                required(resolve, ResolveAddress.DESTINATION),
                millis(resolve, ResolveAddress.TIMEOUT_MILLIS));
    }

    private static void resolve(
            Identifier identifier,
            @Nullable InetSocketAddress source,
            InetSocketAddress destination,
            Duration timeout) {
        InetAddress target = destination.getAddress();
        if (target.isAnyLocalAddress()) {
            target = RouteLookup.loopbackOf(target);
        }
        InetSocketAddress peer = new InetSocketAddress(target, destination.getPort());
        synchronized (identifier.commandLock) {
            ProviderCmId provider = identifier.provider();
            if (isAllowed(identifier, provider, source, target)) {
                provider.resolveAddress(source, peer, null, timeout);
            } else {
                identifier.onEvent(new CmEvent.Failure(CmEvent.Type.ADDRESS_ERROR, -Errno.ENODEV.number(), ""));
            }
        }
    }

    /** Returns whether the user allows the device that the identifier will use. */
    private static boolean isAllowed(
            Identifier identifier, ProviderCmId provider, @Nullable InetSocketAddress source, InetAddress target) {
        CmFiles files = identifier.files();
        if (files.areAllAllowed() || provider.device() != null) {
            return true;
        }
        if (source == null || source.getAddress().isAnyLocalAddress()) {
            return files.allows(files.provider().sourceFor("rdma_resolve_addr", null, target));
        }
        // Linux binds the address first, and therefore refuses it by an error instead of an event.
        if (!files.allows(source.getAddress())) {
            throw notAllowed("rdma_resolve_addr", source.getAddress());
        }
        return true;
    }

    private static RdmaException notAllowed(String operation, InetAddress local) {
        return LocalAddresses.refusal(operation, local, LocalAddresses.isOfThisHost(local), "");
    }

    static void resolveRoute(Request request) {
        MemorySegment resolve = request.structure(ResolveRoute.BYTES);
        Identifier identifier = request.identifier(ResolveRoute.ID);
        Duration timeout = millis(resolve, ResolveRoute.TIMEOUT_MILLIS);
        synchronized (identifier.commandLock) {
            ProviderCmId provider = identifier.withDevice();
            if (timeout.isZero()) {
                throw Request.invalid("the timeout is 0");
            }
            provider.resolveRoute(timeout);
        }
    }

    private static Duration millis(MemorySegment from, int at) {
        return Duration.ofMillis(Integer.toUnsignedLong(Fields.intAt(from, at)));
    }

    private static void requireSize(MemorySegment from, int at, int bytes) {
        if (bytes == 0 || bytes != SocketAddresses.bytesOf(from, at)) {
            throw Request.invalid("an address of " + bytes + " bytes");
        }
    }

    private static InetSocketAddress required(MemorySegment from, int at) {
        InetSocketAddress address = SocketAddresses.read(from, at);
        if (address == null) {
            throw Request.invalid("the address is not an IP address");
        }
        return address;
    }
}
