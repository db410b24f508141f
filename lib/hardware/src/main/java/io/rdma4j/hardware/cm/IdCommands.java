package io.rdma4j.hardware.cm;

import io.rdma4j.cm.ConnectionEnhancement;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.MulticastJoinFlag;
import io.rdma4j.cm.RoutePath;
import io.rdma4j.cm.abi.CmNumbers;
import io.rdma4j.cm.abi.CmStructures;
import io.rdma4j.cm.abi.KernelAttributes;
import io.rdma4j.cm.abi.KernelParameters;
import io.rdma4j.cm.abi.PathRecord;
import io.rdma4j.cm.abi.SocketAddresses;
import io.rdma4j.value.Gid;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.abi.Fields;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The commands of one identifier of the kernel. Each throws {@link io.rdma4j.verbs.RdmaException} with the error that
 * the kernel returns. Thread safe.
 */
final class IdCommands {
    /** The index of a device if the kernel does not report it. */
    static final int UNKNOWN_DEVICE = -1;

    /** The maximum timeout that the kernel gets, about six days. It also replaces an unlimited timeout. */
    private static final long MAX_MILLIS = 1 << 29;

    /**
     * Addresses and device of an identifier.
     *
     * @param nodeGuid the GUID of the device; 0 if the identifier has none
     * @param deviceIndex the number of the device, or {@link #UNKNOWN_DEVICE}
     * @param port the port of the device, from 1
     * @param local the local address, or null if there is none
     * @param peer the peer's address, or null if there is none
     */
    record Addresses(
            long nodeGuid,
            int deviceIndex,
            int port,
            @Nullable InetSocketAddress local,
            @Nullable InetSocketAddress peer) {}

    private final CommandFile file;
    private final int id;
    private final Supplier<String> details;

    /**
     * Creates the commands of an identifier.
     *
     * @param id the kernel's number
     * @param details describes the identifier, for messages
     */
    IdCommands(CommandFile file, int id, Supplier<String> details) {
        this.file = file;
        this.id = id;
        this.details = details;
    }

    void bind(InetSocketAddress local) {
        try (Command command = new Command(CmNumbers.BIND, CmStructures.Bind.BYTES)) {
            MemorySegment bind = command.structure();
            Fields.putInt(bind, CmStructures.Bind.ID, id);
            int bytes = SocketAddresses.write(bind, CmStructures.Bind.ADDRESS, local);
            Fields.putShort(bind, CmStructures.Bind.ADDRESS_BYTES, bytes);
            command.send(file, "rdma_bind_addr", details);
        }
    }

    void resolveAddress(@Nullable InetSocketAddress source, InetSocketAddress destination, Duration timeout) {
        try (Command command = new Command(CmNumbers.RESOLVE_ADDRESS, CmStructures.ResolveAddress.BYTES)) {
            MemorySegment resolve = command.structure();
            Fields.putInt(resolve, CmStructures.ResolveAddress.ID, id);
            Fields.putInt(resolve, CmStructures.ResolveAddress.TIMEOUT_MILLIS, millis(timeout));
            if (source != null) {
                int bytes = SocketAddresses.write(resolve, CmStructures.ResolveAddress.SOURCE, source);
                Fields.putShort(resolve, CmStructures.ResolveAddress.SOURCE_BYTES, bytes);
            }
            int bytes = SocketAddresses.write(resolve, CmStructures.ResolveAddress.DESTINATION, destination);
            Fields.putShort(resolve, CmStructures.ResolveAddress.DESTINATION_BYTES, bytes);
            command.send(file, "rdma_resolve_addr", details);
        }
    }

    void resolveRoute(Duration timeout) {
        try (Command command = new Command(CmNumbers.RESOLVE_ROUTE, CmStructures.ResolveRoute.BYTES)) {
            Fields.putInt(command.structure(), CmStructures.ResolveRoute.ID, id);
            Fields.putInt(command.structure(), CmStructures.ResolveRoute.TIMEOUT_MILLIS, millis(timeout));
            command.send(file, "rdma_resolve_route", details);
        }
    }

    /** Returns a duration in whole milliseconds, at least 1, since the kernel refuses 0. */
    private static int millis(Duration timeout) {
        long millis = timeout.compareTo(Duration.ofMillis(MAX_MILLIS)) > 0 ? MAX_MILLIS : timeout.toMillis();
        return (int) Math.max(1, millis);
    }

    Addresses addresses(String operation) {
        try (Command command = query(CmNumbers.QUERY_ADDRESSES)) {
            MemorySegment answer = command.response();
            // A kernel before 5.1 does not write this field.
            Fields.putInt(answer, CmStructures.QueriedAddresses.DEVICE_INDEX, UNKNOWN_DEVICE);
            command.send(file, operation, details);
            return new Addresses(
                    Fields.bigEndianLongAt(answer, CmStructures.QueriedAddresses.NODE_GUID),
                    Fields.intAt(answer, CmStructures.QueriedAddresses.DEVICE_INDEX),
                    Fields.byteAt(answer, CmStructures.QueriedAddresses.PORT),
                    SocketAddresses.read(answer, CmStructures.QueriedAddresses.LOCAL),
                    SocketAddresses.read(answer, CmStructures.QueriedAddresses.PEER));
        }
    }

    /** Returns the local GID. */
    Gid localGid(String operation) {
        try (Command command = query(CmNumbers.QUERY_GIDS)) {
            command.send(file, operation, details);
            Gid gid = SocketAddresses.readGid(command.response(), CmStructures.QueriedAddresses.LOCAL);
            return gid == null ? Gid.ZERO : gid;
        }
    }

    /** Returns the path of the route; null if there is none. */
    @Nullable
    RoutePath path(String operation) {
        try (Command command =
                query(CmNumbers.QUERY_PATHS, CmStructures.QueriedPaths.BYTES + CmStructures.PathData.BYTES)) {
            command.send(file, operation, details);
            MemorySegment answer = command.response();
            return Fields.intAt(answer, CmStructures.QueriedPaths.PATH_COUNT) == 0
                    ? null
                    : PathRecord.read(answer.asSlice(CmStructures.QueriedPaths.PATHS));
        }
    }

    private Command query(int option) {
        return query(option, CmStructures.QueriedAddresses.BYTES);
    }

    private Command query(int option, int responseBytes) {
        Command command =
                new Command(CmNumbers.QUERY, CmStructures.Query.BYTES, CmStructures.Query.RESPONSE, responseBytes);
        Fields.putInt(command.structure(), CmStructures.Query.ID, id);
        Fields.putInt(command.structure(), CmStructures.Query.OPTION, option);
        return command;
    }

    void listen(int backlog) {
        try (Command command = new Command(CmNumbers.LISTEN, CmStructures.Listen.BYTES)) {
            Fields.putInt(command.structure(), CmStructures.Listen.ID, id);
            Fields.putInt(command.structure(), CmStructures.Listen.BACKLOG, backlog);
            command.send(file, "rdma_listen", details);
        }
    }

    void connect(ConnectionParameters parameters, ConnectionEnhancement enhancement) {
        try (Command command = new Command(CmNumbers.CONNECT, CmStructures.Connect.BYTES)) {
            MemorySegment connect = command.structure();
            Fields.putInt(connect, CmStructures.Connect.ID, id);
            KernelParameters.put(connect.asSlice(CmStructures.Connect.PARAMETERS), parameters);
            KernelParameters.put(connect.asSlice(CmStructures.Connect.ENHANCEMENT), enhancement);
            command.send(file, "rdma_connect", details);
        }
    }

    /**
     * Accepts a request.
     *
     * @param uid the number of the identifier in its events, which the kernel reports only after this command
     */
    void accept(long uid, ConnectionParameters parameters, ConnectionEnhancement enhancement) {
        try (Command command = new Command(CmNumbers.ACCEPT, CmStructures.Accept.BYTES)) {
            MemorySegment accept = command.structure();
            Fields.putLong(accept, CmStructures.Accept.UID, uid);
            Fields.putInt(accept, CmStructures.Accept.ID, id);
            KernelParameters.put(accept.asSlice(CmStructures.Accept.PARAMETERS), parameters);
            KernelParameters.put(accept.asSlice(CmStructures.Accept.ENHANCEMENT), enhancement);
            command.send(file, "rdma_accept", details);
        }
    }

    /** Confirms the peer's reply. The kernel treats an accept command without valid parameters as a confirmation. */
    void establish() {
        try (Command command = new Command(CmNumbers.ACCEPT, CmStructures.Accept.BYTES)) {
            Fields.putInt(command.structure(), CmStructures.Accept.ID, id);
            command.send(file, "rdma_establish", details);
        }
    }

    void reject(byte[] privateData, int reason) {
        try (Command command = new Command(CmNumbers.REJECT, CmStructures.Reject.BYTES)) {
            MemorySegment reject = command.structure();
            Fields.putInt(reject, CmStructures.Reject.ID, id);
            Fields.putByte(reject, CmStructures.Reject.PRIVATE_DATA_BYTES, privateData.length);
            Fields.putByte(reject, CmStructures.Reject.REASON, reason);
            Fields.putBytes(reject, CmStructures.Reject.PRIVATE_DATA, privateData);
            command.send(file, "rdma_reject", details);
        }
    }

    void disconnect() {
        try (Command command = new Command(CmNumbers.DISCONNECT, CmStructures.Disconnect.BYTES)) {
            Fields.putInt(command.structure(), CmStructures.Disconnect.ID, id);
            command.send(file, "rdma_disconnect", details);
        }
    }

    /** Reports that a message has arrived on the queue pair before the last message of the handshake. */
    void notifyCommunicationEstablished() {
        try (Command command = new Command(CmNumbers.NOTIFY, CmStructures.Notify.BYTES)) {
            Fields.putInt(command.structure(), CmStructures.Notify.ID, id);
            Fields.putInt(command.structure(), CmStructures.Notify.EVENT, CmNumbers.COMMUNICATION_ESTABLISHED);
            command.send(file, "rdma_notify", details);
        }
    }

    QueuePairAttributes attributes(QueuePairState target) {
        try (Command command = new Command(
                CmNumbers.INITIALIZE_ATTRIBUTES,
                CmStructures.InitializeAttributes.BYTES,
                CmStructures.InitializeAttributes.RESPONSE,
                CmStructures.Attributes.BYTES)) {
            Fields.putInt(command.structure(), CmStructures.InitializeAttributes.ID, id);
            Fields.putInt(command.structure(), CmStructures.InitializeAttributes.STATE, target.code());
            command.send(file, "rdma_init_qp_attr", details);
            return KernelAttributes.read(command.response());
        }
    }

    // ---- options

    void setTypeOfService(int value) {
        setOptionByte(CmNumbers.OPTION_TYPE_OF_SERVICE, value);
    }

    void setAckTimeout(int exponent) {
        setOptionByte(CmNumbers.OPTION_ACK_TIMEOUT, exponent);
    }

    void setReuseAddress(boolean value) {
        setOptionFlag(CmNumbers.OPTION_REUSE_ADDRESS, value);
    }

    void setFamilyOnly(boolean value) {
        setOptionFlag(CmNumbers.OPTION_FAMILY_ONLY, value);
    }

    void setPath(RoutePath path, Gid source, Gid destination) {
        setOption(CmNumbers.LEVEL_PATH, CmNumbers.OPTION_PATH, CmStructures.PathData.BYTES, value -> {
            PathRecord.write(value, path, source, destination);
            return CmStructures.PathData.BYTES;
        });
    }

    private void setOptionByte(int name, int number) {
        setOption(CmNumbers.LEVEL_ID, name, 1, value -> {
            Fields.putByte(value, 0, number);
            return 1;
        });
    }

    private void setOptionFlag(int name, boolean flag) {
        setOption(CmNumbers.LEVEL_ID, name, Integer.BYTES, value -> {
            Fields.putInt(value, 0, flag ? 1 : 0);
            return Integer.BYTES;
        });
    }

    private void setOption(int level, int name, int maxBytes, ToIntFunction<MemorySegment> write) {
        try (Command command = new Command(CmNumbers.SET_OPTION, CmStructures.SetOption.BYTES)) {
            MemorySegment value = command.allocate(maxBytes);
            MemorySegment option = command.structure();
            Fields.putInt(option, CmStructures.SetOption.VALUE_BYTES, write.applyAsInt(value));
            Fields.putLong(option, CmStructures.SetOption.VALUE, value.address());
            Fields.putInt(option, CmStructures.SetOption.ID, id);
            Fields.putInt(option, CmStructures.SetOption.LEVEL, level);
            Fields.putInt(option, CmStructures.SetOption.NAME, name);
            command.send(file, "rdma_set_option", details);
        }
    }

    // ---- multicast groups

    /**
     * Joins the group of an IP address.
     *
     * @param uid the number of the join in its events
     * @return the kernel's number of the membership
     */
    int join(long uid, InetSocketAddress group, MulticastJoinFlag flag) {
        return join(uid, flag, structure -> SocketAddresses.write(structure, CmStructures.JoinGroup.ADDRESS, group));
    }

    /**
     * Joins a group of an InfiniBand subnet by its GID; see {@link #join(long, InetSocketAddress, MulticastJoinFlag)}.
     */
    int join(long uid, Gid group, MulticastJoinFlag flag) {
        return join(uid, flag, structure -> SocketAddresses.write(structure, CmStructures.JoinGroup.ADDRESS, group));
    }

    private int join(long uid, MulticastJoinFlag flag, ToIntFunction<MemorySegment> writeAddress) {
        try (Command command = new Command(
                CmNumbers.JOIN_GROUP,
                CmStructures.JoinGroup.BYTES,
                CmStructures.JoinGroup.RESPONSE,
                CmStructures.CreatedId.BYTES)) {
            MemorySegment join = command.structure();
            Fields.putLong(join, CmStructures.JoinGroup.UID, uid);
            Fields.putInt(join, CmStructures.JoinGroup.ID, id);
            Fields.putShort(join, CmStructures.JoinGroup.ADDRESS_BYTES, writeAddress.applyAsInt(join));
            Fields.putShort(join, CmStructures.JoinGroup.FLAGS, flag.code());
            command.send(file, "rdma_join_multicast", details);
            return Fields.intAt(command.response(), CmStructures.CreatedId.ID);
        }
    }

    /** Leaves a group. */
    void leave(int membership) {
        destroy(CmNumbers.LEAVE_GROUP, membership, "rdma_leave_multicast");
    }

    // ---- end

    /** Destroys the identifier. The kernel may then reuse its number. */
    void destroy() {
        destroy(CmNumbers.DESTROY_ID, id, "rdma_destroy_id");
    }

    private void destroy(int number, int destroyed, String operation) {
        try (Command command = new Command(
                number,
                CmStructures.DestroyId.BYTES,
                CmStructures.DestroyId.RESPONSE,
                CmStructures.DestroyedId.BYTES)) {
            Fields.putInt(command.structure(), CmStructures.DestroyId.ID, destroyed);
            command.send(file, operation, details);
        }
    }
}
