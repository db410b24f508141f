package io.rdma4j.tools.devices;

import io.rdma4j.tools.command.GidText;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceCapability;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.LinkLayer;
import io.rdma4j.verbs.OnDemandOperation;
import io.rdma4j.verbs.PhysicalPortState;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.PortState;
import io.rdma4j.verbs.TransportType;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Prints the lines of {@code ibv_devinfo} about one device, in the order and the words of the C tool.
 *
 * <p>Attributes that the API does not have are printed as if the device lacked the features: reliable datagrams, raw
 * packets, fast memory regions, and the offloads of certain cards.
 */
final class DeviceInfo {
    /** The upper half of the capability bits, which the C tool prints separately. */
    private static final long EXTENDED = 0xffff_ffff_0000_0000L;

    private final PrintStream out;
    private final boolean verbose;

    DeviceInfo(PrintStream out, boolean verbose) {
        this.out = out;
        this.verbose = verbose;
    }

    // ---- the device ----

    /**
     * Prints a device.
     *
     * @param board the identifier of the board; empty if the device has none
     */
    void printDevice(
            String name, TransportType transport, String board, DeviceAttributes device, int completionVectors) {
        out.println("hca_id:\t" + name);
        line("transport", transport == TransportType.IWARP ? "iWARP (1)" : "InfiniBand (0)");
        if (!device.firmwareVersion().isEmpty()) {
            line("fw_ver", device.firmwareVersion());
        }
        line("node_guid", groups(device.nodeGuid()));
        line("sys_image_guid", groups(device.systemImageGuid()));
        line("vendor_id", String.format(Locale.ROOT, "0x%04x", device.vendorId()));
        line("vendor_part_id", device.vendorPartId());
        line("hw_ver", String.format(Locale.ROOT, "0x%X", device.hardwareVersion()));
        if (!board.isEmpty()) {
            line("board_id", board);
        }
        line("phys_port_cnt", device.ports());
        if (verbose) {
            printLimits(device);
            printOnDemandPaging(device);
            printClock(device);
            printExtended(device);
            line("num_comp_vectors", completionVectors);
        }
    }

    private void printLimits(DeviceAttributes device) {
        line("max_mr_size", String.format(Locale.ROOT, "0x%x", device.maxMemoryRegionBytes()));
        line("page_size_cap", String.format(Locale.ROOT, "0x%x", device.pageSizes()));
        line("max_qp", device.maxQueuePairs());
        line("max_qp_wr", device.maxQueuePairWorkRequests());
        line("device_cap_flags", String.format(Locale.ROOT, "0x%08x", (int) device.capabilityBits()));
        printCapabilities(device.capabilityBits() & ~EXTENDED);
        line("max_sge", device.maxScatterGather());
        line("max_sge_rd", device.maxReadScatterGather());
        line("max_cq", device.maxCompletionQueues());
        line("max_cqe", device.maxCompletionQueueEntries());
        line("max_mr", device.maxMemoryRegions());
        line("max_pd", device.maxProtectionDomains());
        line("max_qp_rd_atom", device.maxReadAtomicPerQueuePair());
        line("max_ee_rd_atom", 0);
        line("max_res_rd_atom", device.maxResponderResources());
        line("max_qp_init_rd_atom", device.maxInitiatedReadAtomicPerQueuePair());
        line("max_ee_init_rd_atom", 0);
        line(
                "atomic_cap",
                device.atomicCapability().text() + " ("
                        + device.atomicCapability().code() + ")");
        line("max_ee", 0);
        line("max_rdd", 0);
        line("max_mw", device.maxMemoryWindows());
        line("max_raw_ipv6_qp", 0);
        line("max_raw_ethy_qp", 0);
        line("max_mcast_grp", device.maxMulticastGroups());
        line("max_mcast_qp_attach", device.maxMulticastQueuePairs());
        line("max_total_mcast_qp_attach", device.maxMulticastAttachments());
        line("max_ah", device.maxAddressHandles());
        line("max_fmr", 0);
        line("max_srq", device.maxSharedReceiveQueues());
        if (device.maxSharedReceiveQueues() > 0) {
            line("max_srq_wr", device.maxSharedReceiveQueueWorkRequests());
            line("max_srq_sge", device.maxSharedReceiveQueueScatterGather());
        }
        line("max_pkeys", device.maxPartitionKeys());
        line("local_ca_ack_delay", device.localAckDelay());
    }

    /** Prints the names of capability bits. Bits without a name are printed together, as a number. */
    private void printCapabilities(long bits) {
        long unknown = bits;
        for (DeviceCapability capability : DeviceCapability.values()) {
            if ((bits & capability.bit()) != 0 && isNamedByC(capability)) {
                out.println("\t\t\t\t\t" + capability.text());
                unknown &= ~capability.bit();
            }
        }
        if (unknown != 0) {
            out.println(String.format(Locale.ROOT, "\t\t\t\t\tUnknown flags: 0x%X", unknown));
        }
    }

    /** Returns whether the C tool has a name for a feature. It has no names for FLUSH and ATOMIC WRITE. */
    private static boolean isNamedByC(DeviceCapability capability) {
        return switch (capability) {
            case FLUSH_GLOBAL, FLUSH_PERSISTENT, ATOMIC_WRITE -> false;
            default -> true;
        };
    }

    private void printOnDemandPaging(DeviceAttributes device) {
        out.println("\tgeneral_odp_caps:");
        if (device.hasOnDemandPaging()) {
            out.println("\t\t\t\t\tODP_SUPPORT");
        }
        printOnDemandPaging("rc", device.onDemandOperations(QueuePairType.RELIABLE_CONNECTION));
        printOnDemandPaging("uc", device.onDemandOperations(QueuePairType.UNRELIABLE_CONNECTION));
        printOnDemandPaging("ud", device.onDemandOperations(QueuePairType.UNRELIABLE_DATAGRAM));
        printOnDemandPaging("xrc", device.onDemandOperations(QueuePairType.XRC_SEND));
    }

    private void printOnDemandPaging(String transport, Set<OnDemandOperation> operations) {
        out.println("\t" + transport + "_odp_caps:");
        if (operations.isEmpty()) {
            out.println("\t\t\t\t\tNO SUPPORT");
        }
        for (OnDemandOperation operation : OnDemandOperation.values()) {
            if (operations.contains(operation)) {
                out.println("\t\t\t\t\tSUPPORT_" + nameInC(operation));
            }
        }
    }

    private static String nameInC(OnDemandOperation operation) {
        return switch (operation) {
            case RECEIVE -> "RECV";
            case SHARED_RECEIVE -> "SRQ";
            default -> operation.name();
        };
    }

    private void printClock(DeviceAttributes device) {
        long mask = device.completionTimestampMask();
        out.println(
                mask == 0
                        ? "\tcompletion_timestamp_mask not supported"
                        : String.format(Locale.ROOT, "\tcompletion timestamp_mask:\t\t\t0x%016x", mask));
        out.println(
                device.clockKilohertz() == 0
                        ? "\tcore clock not supported"
                        : "\thca_core_clock:\t\t\t" + device.clockKilohertz() + "kHZ");
    }

    /** Prints the features of the extended query. Most are offloads of certain cards, which the API does not have. */
    private void printExtended(DeviceAttributes device) {
        line("device_cap_flags_ex", String.format(Locale.ROOT, "0x%X", device.capabilityBits()));
        printCapabilities(device.capabilityBits() & EXTENDED);
        out.println("\ttso_caps:");
        out.println("\t\tmax_tso:\t\t\t0");
        out.println("\trss_caps:");
        out.println("\t\tmax_rwq_indirection_tables:\t\t\t0");
        out.println("\t\tmax_rwq_indirection_table_size:\t\t\t0");
        out.println("\t\trx_hash_function:\t\t\t\t0x0");
        out.println("\t\trx_hash_fields_mask:\t\t\t\t0x0");
        line("max_wq_type_rq", 0);
        out.println("\tpacket_pacing_caps:");
        out.println("\t\tqp_rate_limit_min:\t0kbps");
        out.println("\t\tqp_rate_limit_max:\t0kbps");
        out.println("\ttag matching not supported");
    }

    // ---- a port ----

    void printPort(int number, TransportType transport, PortAttributes port, List<GidEntry> gids) {
        out.println("\t\tport:\t" + number);
        portLine("state", stateInC(port.state()) + " (" + port.state().code() + ")");
        portLine("max_mtu", mtu(port.maxMtu()));
        portLine("active_mtu", mtu(port.activeMtu()));
        portLine("sm_lid", port.subnetManagerIdentifier());
        portLine("port_lid", port.localIdentifier());
        portLine("port_lmc", String.format(Locale.ROOT, "0x%02x", port.localIdentifierMask()));
        portLine("link_layer", port.linkLayer().text());
        if (verbose) {
            printPortLimits(port);
            if (transport == TransportType.INFINIBAND) {
                PhysicalPortState state = port.physicalState();
                portLine("phys_state", state.text() + " (" + state.code() + ")");
            }
            printGids(port, gids);
        }
        out.println();
    }

    private void printPortLimits(PortAttributes port) {
        portLine("max_msg_sz", String.format(Locale.ROOT, "0x%x", port.maxMessageBytes()));
        portLine("port_cap_flags", String.format(Locale.ROOT, "0x%08x", port.capabilityBits()));
        portLine("port_cap_flags2", String.format(Locale.ROOT, "0x%04x", port.capabilityBits2()));
        portLine("max_vl_num", virtualLanes(port.maxVirtualLanes()) + " (" + port.maxVirtualLanes() + ")");
        portLine("bad_pkey_cntr", String.format(Locale.ROOT, "0x%x", port.partitionKeyViolations()));
        portLine("qkey_viol_cntr", String.format(Locale.ROOT, "0x%x", port.queueKeyViolations()));
        portLine("sm_sl", port.subnetManagerServiceLevel());
        portLine("pkey_tbl_len", port.partitionKeyTableLength());
        portLine("gid_tbl_len", port.gidTableLength());
        portLine("subnet_timeout", port.subnetTimeout());
        portLine("init_type_reply", port.initializationReply());
        portLine("active_width", width(port.activeWidth()) + "X (" + port.activeWidth() + ")");
        portLine("active_speed", speed(port.activeSpeed()) + " (" + port.activeSpeed() + ")");
    }

    private void printGids(PortAttributes port, List<GidEntry> gids) {
        for (GidEntry entry : gids) {
            // C's tool checks only the interface identifier.
            if (entry.gid().low() != 0) {
                out.println(String.format(
                        Locale.ROOT, "\t\t\tGID[%3d]:\t\t%s", entry.index(), text(entry, port.linkLayer())));
            }
        }
    }

    private static String text(GidEntry entry, LinkLayer link) {
        boolean isVersion2 = entry.type() == GidEntry.Type.ROCE_V2;
        String gid = isVersion2
                ? GidText.of(entry.gid())
                : groups(entry.gid().high()) + ":" + groups(entry.gid().low());
        return link == LinkLayer.ETHERNET ? gid + (isVersion2 ? ", RoCE v2" : ", RoCE v1") : gid;
    }

    // ---- formats ----

    private static String mtu(PathMtu mtu) {
        return mtu.bytes() + " (" + mtu.code() + ")";
    }

    private static String stateInC(PortState state) {
        return switch (state) {
            case DOWN, INIT, ARMED, ACTIVE -> "PORT_" + state.name();
            default -> "invalid state";
        };
    }

    private static String virtualLanes(int code) {
        return switch (code) {
            case 1 -> "1";
            case 2 -> "2";
            case 3 -> "4";
            case 4 -> "8";
            case 5 -> "15";
            default -> "invalid value";
        };
    }

    private static String width(int code) {
        return switch (code) {
            case 1 -> "1";
            case 2 -> "4";
            case 4 -> "8";
            case 8 -> "12";
            case 16 -> "2";
            default -> "invalid width";
        };
    }

    private static String speed(int code) {
        return switch (code) {
            case 1 -> "2.5 Gbps";
            case 2 -> "5.0 Gbps";
            case 4, 8 -> "10.0 Gbps";
            case 16 -> "14.0 Gbps";
            case 32 -> "25.0 Gbps";
            case 64 -> "50.0 Gbps";
            case 128 -> "100.0 Gbps";
            case 256 -> "200.0 Gbps";
            default -> "invalid speed";
        };
    }

    /** Returns four groups of four hexadecimal digits. */
    private static String groups(long value) {
        return String.format(
                Locale.ROOT,
                "%04x:%04x:%04x:%04x",
                value >>> 48,
                value >>> 32 & 0xffff,
                value >>> 16 & 0xffff,
                value & 0xffff);
    }

    /** Prints a name, and a value from column 40 on. */
    private void line(String name, Object value) {
        out.println(aligned("\t" + name + ":", 8 + name.length() + 1, 40) + value);
    }

    /** Prints a name, and a value from column 48 on. */
    private void portLine(String name, Object value) {
        out.println(aligned("\t\t\t" + name + ":", 24 + name.length() + 1, 48) + value);
    }

    /** Appends tabs up to a column, at least one. */
    private static String aligned(String text, int column, int target) {
        int tabs = Math.max(1, (target - column + 7) / 8);
        return text + "\t".repeat(tabs);
    }

    // ---- JSON ----

    static Map<String, Object> deviceFacts(String name, DeviceAttributes device, int completionVectors) {
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("name", name);
        facts.put("firmwareVersion", device.firmwareVersion());
        facts.put("nodeGuid", groups(device.nodeGuid()));
        facts.put("systemImageGuid", groups(device.systemImageGuid()));
        facts.put("vendorId", device.vendorId());
        facts.put("vendorPartId", device.vendorPartId());
        facts.put("maxMemoryRegionBytes", device.maxMemoryRegionBytes());
        facts.put("hardwareVersion", device.hardwareVersion());
        facts.put("pageSizes", device.pageSizes());
        facts.put(
                "capabilities",
                device.capabilities().stream().map(DeviceCapability::text).toList());
        facts.put("atomicCapability", device.atomicCapability().text());
        facts.put("maxQueuePairs", device.maxQueuePairs());
        facts.put("maxQueuePairWorkRequests", device.maxQueuePairWorkRequests());
        facts.put("maxScatterGather", device.maxScatterGather());
        facts.put("maxReadScatterGather", device.maxReadScatterGather());
        facts.put("maxCompletionQueues", device.maxCompletionQueues());
        facts.put("maxCompletionQueueEntries", device.maxCompletionQueueEntries());
        facts.put("maxMemoryRegions", device.maxMemoryRegions());
        facts.put("maxProtectionDomains", device.maxProtectionDomains());
        facts.put("maxReadAtomicPerQueuePair", device.maxReadAtomicPerQueuePair());
        facts.put("maxInitiatedReadAtomicPerQueuePair", device.maxInitiatedReadAtomicPerQueuePair());
        facts.put("maxResponderResources", device.maxResponderResources());
        facts.put("maxMemoryWindows", device.maxMemoryWindows());
        facts.put("maxMulticastGroups", device.maxMulticastGroups());
        facts.put("maxMulticastQueuePairs", device.maxMulticastQueuePairs());
        facts.put("maxMulticastAttachments", device.maxMulticastAttachments());
        facts.put("maxAddressHandles", device.maxAddressHandles());
        facts.put("maxSharedReceiveQueues", device.maxSharedReceiveQueues());
        facts.put("maxSharedReceiveQueueWorkRequests", device.maxSharedReceiveQueueWorkRequests());
        facts.put("maxSharedReceiveQueueScatterGather", device.maxSharedReceiveQueueScatterGather());
        facts.put("maxPartitionKeys", device.maxPartitionKeys());
        facts.put("maxInlineBytes", device.maxInlineBytes());
        facts.put("localAckDelay", device.localAckDelay());
        facts.put("onDemandPaging", device.hasOnDemandPaging());
        facts.put("completionTimestampMask", device.completionTimestampMask());
        facts.put("clockKilohertz", device.clockKilohertz());
        facts.put("completionVectors", completionVectors);
        return facts;
    }

    static Map<String, Object> portFacts(int number, PortAttributes port, List<GidEntry> gids) {
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("port", number);
        facts.put("state", stateInC(port.state()));
        facts.put("stateNumber", port.state().code());
        facts.put("physicalState", port.physicalState().text());
        facts.put("linkLayer", port.linkLayer().text());
        facts.put("megabitsPerSecond", port.megabitsPerSecond());
        facts.put("maxMtuBytes", port.maxMtu().bytes());
        facts.put("activeMtuBytes", port.activeMtu().bytes());
        facts.put("maxMessageBytes", port.maxMessageBytes());
        facts.put("partitionKeyViolations", port.partitionKeyViolations());
        facts.put("queueKeyViolations", port.queueKeyViolations());
        facts.put("networkInterface", port.networkInterface());
        List<Map<String, Object>> table = new ArrayList<>();
        for (GidEntry each : gids) {
            Map<String, Object> entry = new LinkedHashMap<>();
            entry.put("index", each.index());
            entry.put("gid", GidText.of(each.gid()));
            entry.put("type", each.type().name());
            table.add(entry);
        }
        facts.put("gids", table);
        return facts;
    }
}
