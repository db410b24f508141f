package io.rdma4j.tools.devices;

import io.rdma4j.tools.command.GidText;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.OnDemandOperation;
import io.rdma4j.verbs.PathMtu;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.QueuePairType;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Prints the lines of {@code ibv_devinfo} about one device.
 *
 * <p>Values that a software device lacks are printed as by Linux rxe: zero, {@code not supported}, a port of 1X and 2.5
 * Gbps.
 */
final class DeviceInfo {
    private static final int PORT_DOWN = 1;
    private static final int PORT_ACTIVE = 4;

    /** The capabilities of {@code enum ibv_device_cap_flags} that every device here has, by bit. */
    private static final Map<Integer, String> CAPABILITIES = capabilities();

    private final PrintStream out;
    private final boolean verbose;

    DeviceInfo(PrintStream out, boolean verbose) {
        this.out = out;
        this.verbose = verbose;
    }

    private static Map<Integer, String> capabilities() {
        Map<Integer, String> map = new LinkedHashMap<>();
        map.put(1 << 11, "SYS_IMAGE_GUID");
        map.put(1 << 12, "RC_RNR_NAK_GEN");
        map.put(1 << 13, "SRQ_RESIZE");
        map.put(1 << 17, "MEM_WINDOW");
        map.put(1 << 24, "MEM_WINDOW_TYPE_2B");
        return map;
    }

    // ---- the device ----

    void printDevice(String name, DeviceAttributes device, int completionVectors) {
        out.println("hca_id:\t" + name);
        line("transport", "InfiniBand (0)");
        if (!device.firmwareVersion().isEmpty()) {
            line("fw_ver", device.firmwareVersion());
        }
        line("node_guid", guid(device.nodeGuid()));
        line("sys_image_guid", guid(device.systemImageGuid()));
        line("vendor_id", String.format(Locale.ROOT, "0x%04x", device.vendorId()));
        line("vendor_part_id", device.vendorPartId());
        line("hw_ver", "0x0");
        line("phys_port_cnt", device.ports());
        if (verbose) {
            printLimits(device);
            printOnDemandPaging(device);
            printClock(device);
            printUnsupported();
            line("num_comp_vectors", completionVectors);
        }
    }

    private void printLimits(DeviceAttributes device) {
        line("max_mr_size", String.format(Locale.ROOT, "0x%x", device.maxMemoryRegionBytes()));
        line("page_size_cap", "0xfffff000");
        line("max_qp", device.maxQueuePairs());
        line("max_qp_wr", device.maxQueuePairWorkRequests());
        int flags = CAPABILITIES.keySet().stream().reduce(0, (a, b) -> a | b);
        line("device_cap_flags", String.format(Locale.ROOT, "0x%08x", flags));
        CAPABILITIES.values().forEach(text -> out.println("\t\t\t\t\t" + text));
        line("max_sge", device.maxScatterGather());
        line("max_sge_rd", device.maxScatterGather());
        line("max_cq", device.maxCompletionQueues());
        line("max_cqe", device.maxCompletionQueueEntries());
        line("max_mr", device.maxMemoryRegions());
        line("max_pd", device.maxProtectionDomains());
        line("max_qp_rd_atom", device.maxReadAtomicPerQueuePair());
        line("max_ee_rd_atom", 0);
        line("max_res_rd_atom", (long) device.maxReadAtomicPerQueuePair() * device.maxQueuePairs());
        line("max_qp_init_rd_atom", device.maxInitiatedReadAtomicPerQueuePair());
        line("max_ee_init_rd_atom", 0);
        line("atomic_cap", "ATOMIC_HCA (1)");
        line("max_ee", 0);
        line("max_rdd", 0);
        line("max_mw", device.maxMemoryWindows());
        for (String zero : List.of(
                "max_raw_ipv6_qp",
                "max_raw_ethy_qp",
                "max_mcast_grp",
                "max_mcast_qp_attach",
                "max_total_mcast_qp_attach",
                "max_ah",
                "max_fmr")) {
            line(zero, 0);
        }
        line("max_srq", device.maxSharedReceiveQueues());
        if (device.maxSharedReceiveQueues() > 0) {
            line("max_srq_wr", device.maxSharedReceiveQueueWorkRequests());
            line("max_srq_sge", device.maxSharedReceiveQueueScatterGather());
        }
        line("max_pkeys", 1);
        line("local_ca_ack_delay", device.localAckDelay());
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

    /** Prints the attributes that only hardware supports. */
    private void printUnsupported() {
        int flags = CAPABILITIES.keySet().stream().reduce(0, (a, b) -> a | b);
        line("device_cap_flags_ex", String.format(Locale.ROOT, "0x%X", flags));
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

    void printPort(int number, PortAttributes port, List<Gid> gids) {
        out.println("\t\tport:\t" + number);
        portLine("state", port.isActive() ? "PORT_ACTIVE (4)" : "PORT_DOWN (1)");
        portLine("max_mtu", mtu(port.maxMtu()));
        portLine("active_mtu", mtu(port.activeMtu()));
        portLine("sm_lid", 0);
        portLine("port_lid", 0);
        portLine("port_lmc", "0x00");
        portLine("link_layer", "Ethernet");
        if (verbose) {
            portLine("max_msg_sz", String.format(Locale.ROOT, "0x%x", port.maxMessageBytes()));
            // Communication management is supported (IB_PORT_CM_SUP).
            portLine("port_cap_flags", "0x00010000");
            portLine("port_cap_flags2", "0x0000");
            portLine("max_vl_num", "1 (1)");
            portLine("bad_pkey_cntr", "0x0");
            portLine("qkey_viol_cntr", "0x0");
            portLine("sm_sl", 0);
            portLine("pkey_tbl_len", 1);
            portLine("gid_tbl_len", port.gidTableLength());
            portLine("subnet_timeout", 0);
            portLine("init_type_reply", 0);
            portLine("active_width", "1X (1)");
            portLine("active_speed", "2.5 Gbps (1)");
            portLine("phys_state", port.isActive() ? "LINK_UP (5)" : "DISABLED (3)");
            printGids(gids);
        }
        out.println();
    }

    private void printGids(List<Gid> gids) {
        for (int i = 0; i < gids.size(); i++) {
            Gid gid = gids.get(i);
            // C's tool checks only the interface identifier.
            if (gid.low() != 0) {
                out.println(String.format(Locale.ROOT, "\t\t\tGID[%3d]:\t\t%s, RoCE v2", i, GidText.of(gid)));
            }
        }
    }

    // ---- formats ----

    private static String mtu(PathMtu mtu) {
        return mtu.bytes() + " (" + mtu.code() + ")";
    }

    private static String guid(long guid) {
        return String.format(
                Locale.ROOT,
                "%04x:%04x:%04x:%04x",
                guid >>> 48,
                guid >>> 32 & 0xffff,
                guid >>> 16 & 0xffff,
                guid & 0xffff);
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
        facts.put("nodeGuid", guid(device.nodeGuid()));
        facts.put("systemImageGuid", guid(device.systemImageGuid()));
        facts.put("vendorId", device.vendorId());
        facts.put("vendorPartId", device.vendorPartId());
        facts.put("maxMemoryRegionBytes", device.maxMemoryRegionBytes());
        facts.put("maxQueuePairs", device.maxQueuePairs());
        facts.put("maxQueuePairWorkRequests", device.maxQueuePairWorkRequests());
        facts.put("maxScatterGather", device.maxScatterGather());
        facts.put("maxCompletionQueues", device.maxCompletionQueues());
        facts.put("maxCompletionQueueEntries", device.maxCompletionQueueEntries());
        facts.put("maxMemoryRegions", device.maxMemoryRegions());
        facts.put("maxProtectionDomains", device.maxProtectionDomains());
        facts.put("maxReadAtomicPerQueuePair", device.maxReadAtomicPerQueuePair());
        facts.put("maxInitiatedReadAtomicPerQueuePair", device.maxInitiatedReadAtomicPerQueuePair());
        facts.put("maxInlineBytes", device.maxInlineBytes());
        facts.put("localAckDelay", device.localAckDelay());
        facts.put("onDemandPaging", device.hasOnDemandPaging());
        facts.put("completionTimestampMask", device.completionTimestampMask());
        facts.put("clockKilohertz", device.clockKilohertz());
        facts.put("completionVectors", completionVectors);
        return facts;
    }

    static Map<String, Object> portFacts(int number, PortAttributes port, List<Gid> gids) {
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("port", number);
        facts.put("state", port.isActive() ? "PORT_ACTIVE" : "PORT_DOWN");
        facts.put("stateNumber", port.isActive() ? PORT_ACTIVE : PORT_DOWN);
        facts.put("maxMtuBytes", port.maxMtu().bytes());
        facts.put("activeMtuBytes", port.activeMtu().bytes());
        facts.put("maxMessageBytes", port.maxMessageBytes());
        facts.put("networkInterface", port.networkInterface());
        List<Map<String, Object>> table = new ArrayList<>();
        for (int i = 0; i < gids.size(); i++) {
            if (!gids.get(i).equals(Gid.ZERO)) {
                Map<String, Object> entry = new LinkedHashMap<>();
                entry.put("index", i);
                entry.put("gid", GidText.of(gids.get(i)));
                table.add(entry);
            }
        }
        facts.put("gids", table);
        return facts;
    }
}
