package io.rdma4j.exec.cm;

import io.rdma4j.cm.RoutePath;
import io.rdma4j.cm.abi.CmNumbers;
import io.rdma4j.cm.abi.CmStructures.Attributes;
import io.rdma4j.cm.abi.CmStructures.InitializeAttributes;
import io.rdma4j.cm.abi.CmStructures.PathData;
import io.rdma4j.cm.abi.CmStructures.QueriedAddresses;
import io.rdma4j.cm.abi.CmStructures.QueriedPaths;
import io.rdma4j.cm.abi.CmStructures.QueriedRoute;
import io.rdma4j.cm.abi.CmStructures.Query;
import io.rdma4j.cm.abi.CmStructures.UserPath;
import io.rdma4j.cm.abi.KernelAttributes;
import io.rdma4j.cm.abi.PathRecord;
import io.rdma4j.cm.abi.SocketAddresses;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.value.Gid;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.abi.Fields;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** Queries the state of an identifier. */
final class QueryCommands {
    private static final int DEFAULT_PARTITION = 0xffff;

    /** Devices have no index in the kernel, so librdmacm finds them by their GUID. */
    private static final int NO_INDEX = -1;

    private QueryCommands() {}

    static void route(Request request) {
        request.structure(Query.BYTES);
        request.requireResponse(QueriedRoute.DEVICE_INDEX);
        Identifier identifier = request.identifier(Query.ID);
        MemorySegment response = Request.memory(QueriedRoute.BYTES);
        synchronized (identifier.commandLock) {
            ProviderCmId provider = identifier.provider();
            putAddresses(response, QueriedRoute.LOCAL, QueriedRoute.PEER, provider);
            Fields.putInt(response, QueriedRoute.DEVICE_INDEX, NO_INDEX);
            Device device = device(provider);
            if (device != null) {
                Fields.putBigEndianLong(response, QueriedRoute.NODE_GUID, device.guid());
                Fields.putByte(response, QueriedRoute.PORT, provider.portNumber());
                putRoute(response, provider);
            }
        }
        request.respond(Query.RESPONSE, response);
    }

    /**
     * Returns the device that Linux would report. In Linux, an identifier that is only bound to a loopback address has
     * no device, like one that is bound to a wildcard. A program that finds devices this way, such as libfabric,
     * therefore finds the devices of other addresses.
     */
    private static @Nullable Device device(ProviderCmId provider) {
        InetSocketAddress local = provider.localAddress();
        boolean isOfLoopback = local != null && local.getAddress().isLoopbackAddress();
        return isOfLoopback && provider.peerAddress() == null ? null : provider.device();
    }

    /** Writes the path. Without a path, writes only the GIDs and the default partition key, like the kernel. */
    private static void putRoute(MemorySegment response, ProviderCmId provider) {
        MemorySegment first = response.asSlice(QueriedRoute.PATHS, UserPath.BYTES);
        Gid source = gid(provider.localAddress());
        Gid destination = gid(provider.peerAddress());
        RoutePath path = provider.path();
        if (path == null) {
            Fields.putGid(first, UserPath.SOURCE_GID, source);
            Fields.putGid(first, UserPath.DESTINATION_GID, destination);
            Fields.putBigEndianShort(first, UserPath.PARTITION_KEY, DEFAULT_PARTITION);
        } else {
            Fields.putInt(response, QueriedRoute.PATH_COUNT, 1);
            PathRecord.writeUnpacked(first, path, source, destination);
        }
    }

    static void query(Request request) {
        MemorySegment query = request.structure(Query.BYTES);
        Identifier identifier = request.identifier(Query.ID);
        MemorySegment response;
        synchronized (identifier.commandLock) {
            ProviderCmId provider = identifier.provider();
            response = switch (Fields.intAt(query, Query.OPTION)) {
                case CmNumbers.QUERY_ADDRESSES -> addresses(request, provider);
                case CmNumbers.QUERY_PATHS -> paths(request, provider);
                case CmNumbers.QUERY_GIDS -> gids(request, provider, identifier);
                case CmNumbers.QUERY_SERVICES ->
                    throw new RdmaException("rdma_ucm", Errno.ENODATA, "no service was resolved", "");
                default -> throw new RdmaException("rdma_ucm", Errno.ENOSYS, "an unknown query", "");
            };
        }
        request.respond(Query.RESPONSE, response);
    }

    private static MemorySegment addresses(Request request, ProviderCmId provider) {
        request.requireResponse(QueriedAddresses.DEVICE_INDEX);
        MemorySegment response = Request.memory(QueriedAddresses.BYTES);
        putDevice(response, provider);
        putAddresses(response, QueriedAddresses.LOCAL, QueriedAddresses.PEER, provider);
        putSize(response, QueriedAddresses.LOCAL_BYTES, QueriedAddresses.LOCAL);
        putSize(response, QueriedAddresses.PEER_BYTES, QueriedAddresses.PEER);
        return response;
    }

    private static void putSize(MemorySegment response, int sizeAt, int addressAt) {
        Fields.putShort(response, sizeAt, SocketAddresses.bytesOf(response, addressAt));
    }

    private static MemorySegment gids(Request request, ProviderCmId provider, Identifier identifier) {
        request.requireResponse(QueriedAddresses.DEVICE_INDEX);
        MemorySegment response = Request.memory(QueriedAddresses.BYTES);
        putDevice(response, provider);
        putGid(response, QueriedAddresses.LOCAL_BYTES, QueriedAddresses.LOCAL, provider.localAddress(), identifier);
        putGid(response, QueriedAddresses.PEER_BYTES, QueriedAddresses.PEER, provider.peerAddress(), identifier);
        return response;
    }

    private static void putGid(
            MemorySegment response, int sizeAt, int at, @Nullable InetSocketAddress address, Identifier identifier) {
        long serviceId = address == null ? 0 : identifier.portSpace.serviceId(address.getPort());
        Fields.putShort(response, sizeAt, SocketAddresses.write(response, at, gid(address), serviceId));
    }

    private static MemorySegment paths(Request request, ProviderCmId provider) {
        int room = request.requireResponse(QueriedPaths.BYTES);
        RoutePath path = provider.path();
        boolean fits = room >= QueriedPaths.BYTES + PathData.BYTES;
        MemorySegment response =
                Request.memory(path != null && fits ? QueriedPaths.BYTES + PathData.BYTES : QueriedPaths.BYTES);
        if (path != null) {
            Fields.putInt(response, QueriedPaths.PATH_COUNT, 1);
        }
        if (path != null && fits) {
            PathRecord.write(
                    response.asSlice(QueriedPaths.PATHS),
                    path,
                    gid(provider.localAddress()),
                    gid(provider.peerAddress()));
        }
        return response;
    }

    private static void putDevice(MemorySegment response, ProviderCmId provider) {
        Fields.putInt(response, QueriedAddresses.DEVICE_INDEX, NO_INDEX);
        Device device = device(provider);
        if (device != null) {
            Fields.putBigEndianLong(response, QueriedAddresses.NODE_GUID, device.guid());
            Fields.putByte(response, QueriedAddresses.PORT, provider.portNumber());
            Fields.putBigEndianShort(response, QueriedAddresses.PARTITION_KEY, DEFAULT_PARTITION);
        }
    }

    /** Writes both addresses. The peer of an identifier that is only bound is the wildcard of its family. */
    private static void putAddresses(MemorySegment response, int localAt, int peerAt, ProviderCmId provider) {
        InetSocketAddress local = provider.localAddress();
        InetSocketAddress peer = provider.peerAddress();
        if (local != null) {
            SocketAddresses.write(response, localAt, local);
        }
        if (peer != null) {
            SocketAddresses.write(response, peerAt, peer);
        } else if (local != null) {
            SocketAddresses.writeFamily(response, peerAt, local);
        }
    }

    private static Gid gid(@Nullable InetSocketAddress address) {
        return address == null ? Gid.ZERO : Gid.of(address.getAddress());
    }

    static void attributes(Request request) {
        MemorySegment initialize = request.structure(InitializeAttributes.BYTES);
        request.requireResponse(Attributes.BYTES);
        QueuePairState target = state(Fields.intAt(initialize, InitializeAttributes.STATE));
        Identifier identifier = request.identifier(InitializeAttributes.ID);
        MemorySegment response = Request.memory(Attributes.BYTES);
        synchronized (identifier.commandLock) {
            KernelAttributes.write(response, identifier.withDevice().initQueuePairAttributes(target));
        }
        request.respond(InitializeAttributes.RESPONSE, response);
    }

    private static QueuePairState state(int code) {
        return QueuePairState.ofCode(code).orElseThrow(() -> Request.invalid("queue pair state " + code));
    }
}
