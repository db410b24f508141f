package io.rdma4j.hardware.device;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.rdma4j.cm.host.SystemFile;
import io.rdma4j.hardware.library.Call;
import io.rdma4j.hardware.library.Function;
import io.rdma4j.value.Gid;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.AtomicCapability;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.OnDemandOperation;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import io.rdma4j.verbs.abi.Fields;
import io.rdma4j.verbs.abi.Flags;
import io.rdma4j.verbs.abi.PortCodec;
import io.rdma4j.verbs.abi.VerbsStructures.DeviceLimits;
import io.rdma4j.verbs.abi.VerbsStructures.ExtendedContext;
import io.rdma4j.verbs.abi.VerbsStructures.ExtendedDeviceLimits;
import io.rdma4j.verbs.abi.VerbsStructures.GidTableEntry;
import io.rdma4j.verbs.abi.VerbsStructures.PortFields;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.NetworkInterface;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Queries an open device about itself and its ports. Thread safe. */
final class DeviceQueries {
    private static final int FIRMWARE_BYTES = 64;
    private static final int BYTE = 0xff;
    private static final int SHORT = 0xffff;
    private static final long UNSIGNED = 0xffff_ffffL;

    private final HardwareContext context;

    /** The attributes, which do not change; null before the first query. */
    private volatile @Nullable DeviceAttributes attributes;

    DeviceQueries(HardwareContext context) {
        this.context = context;
    }

    DeviceAttributes attributes() {
        DeviceAttributes known = attributes;
        if (known == null) {
            known = queryAttributes();
            attributes = known;
        }
        return known;
    }

    private DeviceAttributes queryAttributes() {
        long pointer = context.handle().enter("ibv_query_device", context);
        try (Call call = new Call()) {
            MemorySegment from = call.allocate(DeviceLimits.BYTES);
            call.check(Function.QUERY_DEVICE, context.toString(), pointer, from.address());
            DeviceAttributes.Builder attributes = DeviceAttributes.builder();
            attributes.ports(from.get(JAVA_BYTE, DeviceLimits.PORTS) & BYTE);
            attributes.capabilityBits(from.get(JAVA_INT, DeviceLimits.CAPABILITIES) & UNSIGNED);
            addFeatures(call, pointer, attributes);
            addSharedLimits(from, attributes);
            return attributes
                    .firmwareVersion(text(from))
                    .nodeGuid(Long.reverseBytes(from.get(JAVA_LONG, DeviceLimits.NODE_GUID)))
                    .systemImageGuid(Long.reverseBytes(from.get(JAVA_LONG, DeviceLimits.SYSTEM_IMAGE_GUID)))
                    .vendorId(from.get(JAVA_INT, DeviceLimits.VENDOR_ID))
                    .vendorPartId(from.get(JAVA_INT, DeviceLimits.VENDOR_PART_ID))
                    .maxMemoryRegionBytes(from.get(JAVA_LONG, DeviceLimits.MAX_REGION_BYTES))
                    .maxQueuePairs(from.get(JAVA_INT, DeviceLimits.MAX_QUEUE_PAIRS))
                    .maxQueuePairWorkRequests(from.get(JAVA_INT, DeviceLimits.MAX_QUEUE_PAIR_WORK_REQUESTS))
                    .maxScatterGather(from.get(JAVA_INT, DeviceLimits.MAX_SCATTER_GATHER))
                    .maxCompletionQueues(from.get(JAVA_INT, DeviceLimits.MAX_COMPLETION_QUEUES))
                    .maxCompletionQueueEntries(from.get(JAVA_INT, DeviceLimits.MAX_COMPLETION_QUEUE_ENTRIES))
                    .maxMemoryRegions(from.get(JAVA_INT, DeviceLimits.MAX_REGIONS))
                    .maxMemoryWindows(from.get(JAVA_INT, DeviceLimits.MAX_WINDOWS))
                    .maxProtectionDomains(from.get(JAVA_INT, DeviceLimits.MAX_PROTECTION_DOMAINS))
                    .maxSharedReceiveQueues(from.get(JAVA_INT, DeviceLimits.MAX_SHARED_RECEIVE_QUEUES))
                    .maxSharedReceiveQueueWorkRequests(
                            from.get(JAVA_INT, DeviceLimits.MAX_SHARED_RECEIVE_QUEUE_WORK_REQUESTS))
                    .maxSharedReceiveQueueScatterGather(
                            from.get(JAVA_INT, DeviceLimits.MAX_SHARED_RECEIVE_QUEUE_SCATTER_GATHER))
                    .maxReadAtomicPerQueuePair(from.get(JAVA_INT, DeviceLimits.MAX_READ_ATOMIC))
                    .maxInitiatedReadAtomicPerQueuePair(from.get(JAVA_INT, DeviceLimits.MAX_INITIATED_READ_ATOMIC))
                    .maxInlineBytes(QueuePairFactory.maxInlineBytes(context))
                    .localAckDelay(from.get(JAVA_BYTE, DeviceLimits.LOCAL_ACK_DELAY) & BYTE)
                    .build();
        } finally {
            context.handle().exit();
        }
    }

    /** Adds the limits that all queue pairs share, and the limits of groups and tables. */
    private static void addSharedLimits(MemorySegment from, DeviceAttributes.Builder attributes) {
        attributes
                .hardwareVersion(from.get(JAVA_INT, DeviceLimits.HARDWARE_VERSION))
                .pageSizes(from.get(JAVA_LONG, DeviceLimits.PAGE_SIZES))
                .maxReadScatterGather(from.get(JAVA_INT, DeviceLimits.MAX_READ_SCATTER_GATHER))
                .maxResponderResources(from.get(JAVA_INT, DeviceLimits.MAX_RESPONDER_RESOURCES))
                .atomicCapability(atomicCapability(from.get(JAVA_INT, DeviceLimits.ATOMIC_CAPABILITY)))
                .maxMulticastGroups(from.get(JAVA_INT, DeviceLimits.MAX_MULTICAST_GROUPS))
                .maxMulticastQueuePairs(from.get(JAVA_INT, DeviceLimits.MAX_MULTICAST_QUEUE_PAIRS))
                .maxMulticastAttachments(from.get(JAVA_INT, DeviceLimits.MAX_MULTICAST_ATTACHMENTS))
                .maxAddressHandles(from.get(JAVA_INT, DeviceLimits.MAX_ADDRESS_HANDLES))
                .maxPartitionKeys(from.get(JAVA_SHORT, DeviceLimits.MAX_PARTITION_KEYS) & SHORT);
    }

    private static AtomicCapability atomicCapability(int code) {
        return Arrays.stream(AtomicCapability.values())
                .filter(each -> each.code() == code)
                .findFirst()
                .orElse(AtomicCapability.NONE);
    }

    /** Adds the results of the extended query. A device without this query has none of these features. */
    private void addFeatures(Call call, long pointer, DeviceAttributes.Builder attributes) {
        if (!context.hasExtendedFunction(ExtendedContext.QUERY_DEVICE)) {
            return;
        }
        MemorySegment from = call.allocate(ExtendedDeviceLimits.BYTES);
        MemorySegment query = context.function(ExtendedContext.QUERY_DEVICE);
        int error = (int) call.result(query, pointer, 0, from.address(), ExtendedDeviceLimits.BYTES);
        if (error != 0) {
            return;
        }
        attributes.completionTimestampMask(from.get(JAVA_LONG, ExtendedDeviceLimits.COMPLETION_TIMESTAMP_MASK));
        attributes.clockKilohertz(from.get(JAVA_LONG, ExtendedDeviceLimits.CLOCK_KILOHERTZ));
        attributes.capabilityBits(from.get(JAVA_LONG, ExtendedDeviceLimits.CAPABILITIES));
        int ports = from.get(JAVA_INT, ExtendedDeviceLimits.PORTS);
        if (ports != 0) {
            attributes.ports(ports);
        }
        attributes.onDemandPaging((from.get(JAVA_LONG, ExtendedDeviceLimits.ON_DEMAND) & Flags.ON_DEMAND_PAGING) != 0);
        for (QueuePairType type : QueuePairType.values()) {
            int bits = from.get(JAVA_INT, onDemandOperations(type));
            attributes.onDemandOperations(type, OnDemandOperation.ofBits(bits));
        }
    }

    private static int onDemandOperations(QueuePairType type) {
        return switch (type) {
            case RELIABLE_CONNECTION -> ExtendedDeviceLimits.ON_DEMAND_RELIABLE_CONNECTIONS;
            case UNRELIABLE_CONNECTION -> ExtendedDeviceLimits.ON_DEMAND_UNRELIABLE_CONNECTIONS;
            case UNRELIABLE_DATAGRAM -> ExtendedDeviceLimits.ON_DEMAND_DATAGRAMS;
            case XRC_SEND, XRC_RECEIVE -> ExtendedDeviceLimits.ON_DEMAND_EXTENDED_CONNECTIONS;
        };
    }

    private static String text(MemorySegment from) {
        byte[] bytes =
                from.asSlice(DeviceLimits.FIRMWARE_VERSION, FIRMWARE_BYTES).toArray(JAVA_BYTE);
        int length = 0;
        while (length < bytes.length && bytes[length] != 0) {
            length++;
        }
        return new String(bytes, 0, length, StandardCharsets.US_ASCII);
    }

    PortAttributes port(int port) {
        long pointer = context.handle().enter("ibv_query_port", context);
        try (Call call = new Call()) {
            MemorySegment from = call.allocate(PortFields.MAX_BYTES);
            queryPort(call, pointer, port, from);
            return PortCodec.read(from, networkInterface(port));
        } finally {
            context.handle().exit();
        }
    }

    /** Prefers the driver's function: the exported one does not fill all fields of the present structure. */
    private void queryPort(Call call, long pointer, int port, MemorySegment target) {
        String details = "port " + port + " of " + context;
        if (context.hasExtendedFunction(ExtendedContext.QUERY_PORT)) {
            MemorySegment query = context.function(ExtendedContext.QUERY_PORT);
            int error = (int) call.result(query, pointer, port, target.address(), PortFields.MAX_BYTES);
            call.checkResult("ibv_query_port", details, error);
        } else {
            call.check(Function.QUERY_PORT, details, pointer, port, target.address());
        }
    }

    private String networkInterface(int port) {
        Path file = portFolder(port).resolve("gid_attrs/ndevs/0");
        try {
            return SystemFile.read(file);
        } catch (IOException none) {
            return context.device().transportType() == TransportType.IWARP ? interfaceOfIwarp(port) : "";
        }
    }

    /**
     * Finds the interface of an iWARP device by the hardware address in its GID, since the kernel has no name for it.
     */
    private String interfaceOfIwarp(int port) {
        try {
            String gid = SystemFile.read(portFolder(port).resolve("gids/0"));
            for (NetworkInterface each : Collections.list(NetworkInterface.getNetworkInterfaces())) {
                String start = GidTables.startOfIwarpGid(each);
                if (!start.isEmpty() && gid.startsWith(start)) {
                    return each.getName();
                }
            }
        } catch (IOException none) {
            return "";
        }
        return "";
    }

    private Path portFolder(int port) {
        return Path.of("/sys/class/infiniband", context.device().name(), "ports", String.valueOf(port));
    }

    List<GidEntry> gidTable(int port) {
        requirePort("ibv_query_gid_table", port);
        long pointer = context.handle().enter("ibv_query_gid_table", context);
        try (Call call = new Call()) {
            int most = tableLength() + 1;
            MemorySegment table = call.allocate((long) most * GidTableEntry.BYTES);
            long count = call.result(Function.QUERY_GID_TABLE, pointer, table.address(), most, 0, GidTableEntry.BYTES);
            if (count < 0) {
                throw new RdmaException("ibv_query_gid_table", Errno.of((int) -count), context.toString(), "");
            }
            List<GidEntry> entries = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                GidEntry entry = entry(table, (long) i * GidTableEntry.BYTES);
                if (entry.port() == port && !entry.gid().equals(Gid.ZERO)) {
                    entries.add(entry);
                }
            }
            return entries;
        } finally {
            context.handle().exit();
        }
    }

    /** Returns the total number of GID table entries of all ports. */
    private int tableLength() {
        int total = 0;
        for (int port = 1; port <= attributes().ports(); port++) {
            total += port(port).gidTableLength();
        }
        return total;
    }

    private static GidEntry entry(MemorySegment table, long at) {
        GidEntry.Type type = GidEntry.Type.INFINIBAND;
        for (GidEntry.Type each : GidEntry.Type.values()) {
            type = each.code() == table.get(JAVA_INT, at + GidTableEntry.TYPE) ? each : type;
        }
        return new GidEntry(
                Fields.gidAt(table, at + GidTableEntry.GID),
                table.get(JAVA_INT, at + GidTableEntry.INDEX),
                table.get(JAVA_INT, at + GidTableEntry.PORT),
                type,
                table.get(JAVA_INT, at + GidTableEntry.INTERFACE_INDEX));
    }

    List<Gid> gids(int port) {
        List<GidEntry> entries = gidTable(port);
        List<Gid> gids = new ArrayList<>();
        int length = port(port).gidTableLength();
        for (int i = 0; i < length; i++) {
            gids.add(Gid.ZERO);
        }
        entries.stream().filter(entry -> entry.index() < length).forEach(entry -> gids.set(entry.index(), entry.gid()));
        return gids;
    }

    int partitionKey(int port, int index) {
        requirePort("ibv_query_pkey", port);
        long pointer = context.handle().enter("ibv_query_pkey", context);
        try (Call call = new Call()) {
            MemorySegment key = call.allocate(2);
            String details = "index " + index + " of port " + port + " of " + context;
            call.check(Function.QUERY_PARTITION_KEY, details, pointer, port, index, key.address());
            return Short.reverseBytes(key.get(JAVA_SHORT, 0)) & 0xffff;
        } finally {
            context.handle().exit();
        }
    }

    int partitionKeyIndex(int port, int key) {
        requirePort("ibv_get_pkey_index", port);
        long pointer = context.handle().enter("ibv_get_pkey_index", context);
        try (Call call = new Call()) {
            int networkOrder = Short.reverseBytes((short) key) & 0xffff;
            return Math.max(-1, (int) call.result(Function.GET_PARTITION_KEY_INDEX, pointer, port, networkOrder));
        } finally {
            context.handle().exit();
        }
    }

    private void requirePort(String operation, int port) {
        int ports = attributes().ports();
        if (port < 1 || port > ports) {
            throw new RdmaException(
                    operation, Errno.EINVAL, context + " has no port " + port, "It has ports 1 to " + ports);
        }
    }

    /** Returns the counters of the driver, which cover the whole host. */
    Map<String, Long> counters() {
        Map<String, Long> counters = new TreeMap<>();
        for (int port = 1; port <= attributes().ports(); port++) {
            try (DirectoryStream<Path> files =
                    Files.newDirectoryStream(portFolder(port).resolve("hw_counters"))) {
                for (Path file : files) {
                    add(counters, file);
                }
            } catch (IOException none) {
                // The driver has no counters.
            }
        }
        return counters;
    }

    private static void add(Map<String, Long> counters, Path file) {
        try {
            counters.merge(file.getFileName().toString(), Long.parseLong(SystemFile.read(file)), Long::sum);
        } catch (IOException | NumberFormatException noCounter) {
            // The folder also has settings, such as the lifespan of cached values.
        }
    }
}
