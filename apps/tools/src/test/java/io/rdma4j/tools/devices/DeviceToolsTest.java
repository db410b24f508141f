package io.rdma4j.tools.devices;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.ToolRun;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.AtomicCapability;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.LinkLayer;
import io.rdma4j.verbs.OnDemandOperation;
import io.rdma4j.verbs.PhysicalPortState;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.PortState;
import io.rdma4j.verbs.TransportType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class DeviceToolsTest {
    /** Every attribute has a different value, so that the test detects swapped attributes. */
    private static final DeviceAttributes DEVICE = DeviceAttributes.builder()
            .firmwareVersion("1.0")
            .nodeGuid(0x5054_00ff_fe88_0002L)
            .systemImageGuid(0x1L)
            .vendorId(0x2c9)
            .vendorPartId(4129)
            .hardwareVersion(0x1a)
            .pageSizes(0xffff_f000L)
            .maxMemoryRegionBytes(1L << 46)
            .maxQueuePairs(32768)
            .maxQueuePairWorkRequests(16384)
            .capabilityBits(1L << 36 | 1L << 38 | 1L << 31 | 1L << 11 | 1L << 20)
            .atomicCapability(AtomicCapability.GLOBAL)
            .maxScatterGather(32)
            .maxReadScatterGather(30)
            .maxCompletionQueues(65536)
            .maxCompletionQueueEntries(4096)
            .maxMemoryRegions(1024)
            .maxMemoryWindows(640)
            .maxProtectionDomains(512)
            .maxSharedReceiveQueues(256)
            .maxSharedReceiveQueueWorkRequests(2048)
            .maxSharedReceiveQueueScatterGather(8)
            .maxReadAtomicPerQueuePair(128)
            .maxResponderResources(4000)
            .maxInitiatedReadAtomicPerQueuePair(64)
            .maxMulticastGroups(99)
            .maxMulticastQueuePairs(98)
            .maxMulticastAttachments(97)
            .maxAddressHandles(96)
            .maxPartitionKeys(95)
            .maxInlineBytes(1024)
            .localAckDelay(15)
            .ports(1)
            .onDemandPaging(true)
            .onDemandOperations(QueuePairType.RELIABLE_CONNECTION, Set.of(OnDemandOperation.values()))
            .onDemandOperations(QueuePairType.UNRELIABLE_DATAGRAM, Set.of(OnDemandOperation.SEND))
            .completionTimestampMask(0xffff_ffffL)
            .clockKilohertz(156_250)
            .build();

    private static final PortAttributes PORT = PortAttributes.builder()
            .state(PortState.INIT)
            .activeMtu(PathMtu.MTU_1024)
            .gidTableLength(1024)
            .partitionKeyTableLength(128)
            .maxMessageBytes(1L << 31)
            .capabilityBits(0x10)
            .capabilityBits2(0x20)
            .partitionKeyViolations(0x30)
            .queueKeyViolations(0x40)
            .linkLayer(LinkLayer.INFINIBAND)
            .physicalState(PhysicalPortState.TRAINING)
            .activeWidth(16)
            .activeSpeed(64)
            .maxVirtualLanes(4)
            .localIdentifier(5)
            .localIdentifierMask(6)
            .subnetManagerIdentifier(7)
            .subnetManagerServiceLevel(8)
            .subnetTimeout(9)
            .initializationReply(10)
            .build();

    /** The attributes of rdma_rxe in Linux 6.12. */
    private static final DeviceAttributes RXE = DeviceAttributes.builder()
            .firmwareVersion("0.0.0")
            .nodeGuid(0x5054_00ff_fe88_0002L)
            .systemImageGuid(0x5054_00ff_fe88_0002L)
            .vendorId(0xff_ffff)
            .maxMemoryRegionBytes(-1)
            .pageSizes(0xffff_f000L)
            .maxQueuePairs(1_048_560)
            .maxQueuePairWorkRequests(1_048_576)
            .capabilityBits(0x1c0_0122_3c76L)
            .maxScatterGather(32)
            .maxReadScatterGather(32)
            .maxCompletionQueues(1_048_576)
            .maxCompletionQueueEntries(32767)
            .maxMemoryRegions(524_287)
            .maxProtectionDomains(1_048_576)
            .maxReadAtomicPerQueuePair(128)
            .maxResponderResources(258_048)
            .maxInitiatedReadAtomicPerQueuePair(128)
            .atomicCapability(AtomicCapability.DEVICE)
            .maxMemoryWindows(524_287)
            .maxMulticastGroups(8192)
            .maxMulticastQueuePairs(56)
            .maxMulticastAttachments(458_752)
            .maxAddressHandles(32767)
            .maxSharedReceiveQueues(917_503)
            .maxSharedReceiveQueueWorkRequests(1_048_576)
            .maxSharedReceiveQueueScatterGather(27)
            .maxPartitionKeys(64)
            .localAckDelay(15)
            .ports(1)
            .build();

    private static final PortAttributes RXE_PORT = PortAttributes.builder()
            .state(PortState.ACTIVE)
            .activeMtu(PathMtu.MTU_1024)
            .gidTableLength(1024)
            .partitionKeyTableLength(1)
            .maxMessageBytes(1L << 31)
            .capabilityBits(0x10000)
            .physicalState(PhysicalPortState.LINK_UP)
            .build();
    private static final List<GidEntry> RXE_GIDS = List.of(
            entry(0, new Gid(0xfe80_0000_0000_0000L, 0x5054_00ff_fe88_0002L), GidEntry.Type.ROCE_V2),
            entry(1, new Gid(0, 0xffff_0a58_0002L), GidEntry.Type.ROCE_V2),
            entry(2, new Gid(0xfd00_0088_0000_0000L, 2), GidEntry.Type.ROCE_V2));

    /** The names of the lines that differ, which the manual page explains. */
    private static final String[] DIFFERENT_LINES = {
        "hca_id",
        "fw_ver",
        "node_guid",
        "sys_image_guid",
        "GID[  0]",
        "GID[  1]",
        "GID[  2]",
        "active_mtu",
        "num_comp_vectors",
        "max_mr_size",
        "max_qp",
        "max_qp_wr",
        "device_cap_flags",
        "AUTO_PATH_MIG",
        "CHANGE_PHY_PORT",
        "max_cq",
        "max_cqe",
        "max_mr",
        "max_pd",
        "max_res_rd_atom",
        "max_mw",
        "max_mcast_qp_attach",
        "max_total_mcast_qp_attach",
        "max_ah",
        "max_srq",
        "max_srq_wr",
        "max_srq_sge",
        "max_pkeys",
        "device_cap_flags_ex",
        "NO SUPPORT",
        "Unknown flags"
    };

    private static GidEntry entry(int index, Gid gid, GidEntry.Type type) {
        return new GidEntry(gid, index, 1, type, 2);
    }

    private static String print(Consumer<DeviceInfo> lines, boolean verbose) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        lines.accept(new DeviceInfo(new PrintStream(out, true, StandardCharsets.UTF_8), verbose));
        return out.toString(StandardCharsets.UTF_8);
    }

    private static String printRxe(boolean verbose) {
        return print(
                info -> {
                    info.printDevice("rxe0", TransportType.INFINIBAND, "", RXE, 1);
                    info.printPort(1, TransportType.INFINIBAND, RXE_PORT, RXE_GIDS);
                },
                verbose);
    }

    @Test
    void shortFormatEqualsTheOutputOfC() {
        assertThat(printRxe(false)).isEqualTo("""
            hca_id:\trxe0
            \ttransport:\t\t\tInfiniBand (0)
            \tfw_ver:\t\t\t\t0.0.0
            \tnode_guid:\t\t\t5054:00ff:fe88:0002
            \tsys_image_guid:\t\t\t5054:00ff:fe88:0002
            \tvendor_id:\t\t\t0xffffff
            \tvendor_part_id:\t\t\t0
            \thw_ver:\t\t\t\t0x0
            \tphys_port_cnt:\t\t\t1
            \t\tport:\t1
            \t\t\tstate:\t\t\tPORT_ACTIVE (4)
            \t\t\tmax_mtu:\t\t4096 (5)
            \t\t\tactive_mtu:\t\t1024 (3)
            \t\t\tsm_lid:\t\t\t0
            \t\t\tport_lid:\t\t0
            \t\t\tport_lmc:\t\t0x00
            \t\t\tlink_layer:\t\tEthernet

            """);
    }

    /** The file is the output of libibverbs 44 on rdma_rxe of Linux 6.12. */
    @Test
    void longFormatEqualsTheOutputOfCForTheSameAttributes() throws IOException {
        try (InputStream ofC = Objects.requireNonNull(getClass().getResourceAsStream("ibv_devinfo-rxe.txt"))) {
            assertThat(printRxe(true)).isEqualTo(new String(ofC.readAllBytes(), StandardCharsets.UTF_8));
        }
    }

    @Test
    void everyAttributeHasItsLine() {
        String text = print(
                info -> {
                    info.printDevice("mlx5_0", TransportType.INFINIBAND, "MT_0000000223", DEVICE, 6);
                    info.printPort(
                            1,
                            TransportType.INFINIBAND,
                            PORT,
                            List.of(entry(3, new Gid(1, 2), GidEntry.Type.INFINIBAND)));
                },
                true);
        assertThat(text)
                .contains(
                        "\n\thw_ver:\t\t\t\t0x1A\n\tboard_id:\t\t\tMT_0000000223\n\tphys_port_cnt:",
                        """
                        \tdevice_cap_flags:\t\t0x80100800
                        \t\t\t\t\tSYS_IMAGE_GUID
                        \t\t\t\t\tXRC
                        \t\t\t\t\tUnknown flags: 0x80000000
                        \tmax_sge:\t\t\t32
                        \tmax_sge_rd:\t\t\t30
                        """,
                        "\n\tmax_res_rd_atom:\t\t4000\n",
                        "\n\tatomic_cap:\t\t\tATOMIC_GLOB (2)\n",
                        """
                        \tmax_mcast_grp:\t\t\t99
                        \tmax_mcast_qp_attach:\t\t98
                        \tmax_total_mcast_qp_attach:\t97
                        \tmax_ah:\t\t\t\t96
                        """,
                        "\n\tmax_srq:\t\t\t256\n\tmax_srq_wr:\t\t\t2048\n\tmax_srq_sge:\t\t\t8\n\tmax_pkeys:\t\t\t95\n",
                        "\n\tlocal_ca_ack_delay:\t\t15\n\tgeneral_odp_caps:\n\t\t\t\t\tODP_SUPPORT\n\trc_odp_caps:\n",
                        "\n\trc_odp_caps:\n\t\t\t\t\tSUPPORT_SEND\n\t\t\t\t\tSUPPORT_RECV\n\t\t\t\t\tSUPPORT_WRITE\n",
                        """
                        \t\t\t\t\tSUPPORT_ATOMIC
                        \t\t\t\t\tSUPPORT_SRQ
                        \t\t\t\t\tSUPPORT_FLUSH
                        \t\t\t\t\tSUPPORT_ATOMIC_WRITE
                        \tuc_odp_caps:
                        \t\t\t\t\tNO SUPPORT
                        """,
                        "\n\tud_odp_caps:\n\t\t\t\t\tSUPPORT_SEND\n\txrc_odp_caps:\n\t\t\t\t\tNO SUPPORT\n",
                        "\n\tcompletion timestamp_mask:\t\t\t0x00000000ffffffff\n\thca_core_clock:\t\t\t156250kHZ\n",
                        """
                        \tdevice_cap_flags_ex:\t\t0x5080100800
                        \t\t\t\t\tPCI_WRITE_END_PADDING
                        \t\t\t\t\tUnknown flags: 0x4000000000
                        \ttso_caps:
                        """,
                        """
                        \tnum_comp_vectors:\t\t6
                        \t\tport:\t1
                        \t\t\tstate:\t\t\tPORT_INIT (2)
                        \t\t\tmax_mtu:\t\t4096 (5)
                        \t\t\tactive_mtu:\t\t1024 (3)
                        \t\t\tsm_lid:\t\t\t7
                        \t\t\tport_lid:\t\t5
                        \t\t\tport_lmc:\t\t0x06
                        \t\t\tlink_layer:\t\tInfiniBand
                        \t\t\tmax_msg_sz:\t\t0x80000000
                        \t\t\tport_cap_flags:\t\t0x00000010
                        \t\t\tport_cap_flags2:\t0x0020
                        \t\t\tmax_vl_num:\t\t8 (4)
                        \t\t\tbad_pkey_cntr:\t\t0x30
                        \t\t\tqkey_viol_cntr:\t\t0x40
                        \t\t\tsm_sl:\t\t\t8
                        \t\t\tpkey_tbl_len:\t\t128
                        \t\t\tgid_tbl_len:\t\t1024
                        \t\t\tsubnet_timeout:\t\t9
                        \t\t\tinit_type_reply:\t10
                        \t\t\tactive_width:\t\t2X (16)
                        \t\t\tactive_speed:\t\t50.0 Gbps (64)
                        \t\t\tphys_state:\t\tPORT_CONFIGURATION TRAINNING (4)
                        \t\t\tGID[  3]:\t\t0000:0000:0000:0001:0000:0000:0000:0002

                        """);
    }

    @Test
    void portOfIwarpHasNoPhysicalState() {
        String text = print(
                info -> {
                    info.printDevice("siw0", TransportType.IWARP, "", RXE, 1);
                    info.printPort(1, TransportType.IWARP, RXE_PORT, List.of());
                },
                true);
        assertThat(text).contains("\ttransport:\t\t\tiWARP (1)\n").doesNotContain("phys_state");
    }

    /** Compares with C's output for rdma_rxe. The manual page explains the different lines. */
    @Test
    void softwareDeviceHasTheLinesOfCExceptForTheListedOnes() throws IOException, InterruptedException {
        ToolRun run = ToolRun.start("ibv_devinfo -v -d rdma4j_lo");
        assertThat(run.status()).isZero();
        List<String> own = run.out().lines().toList();
        String ofC;
        try (InputStream file = Objects.requireNonNull(getClass().getResourceAsStream("ibv_devinfo-rxe.txt"))) {
            ofC = new String(file.readAllBytes(), StandardCharsets.UTF_8);
        }
        List<String> different = ofC.lines()
                .filter(line -> !own.contains(line))
                .map(line -> line.strip().replaceFirst(":\\s.*", ""))
                .toList();
        assertThat(different).allSatisfy(line -> assertThat(line).isIn((Object[]) DIFFERENT_LINES));
    }

    @Test
    void devicesAreListedWithTheirGuids() throws InterruptedException {
        ToolRun run = ToolRun.start("ibv_devices");
        assertThat(run.status()).isZero();
        assertThat(run.out())
                .startsWith("    device          \t   node GUID\n    ------          \t----------------\n");
        for (Device device : Device.list()) {
            assertThat(run.out()).contains("    %-16s\t%016x\n".formatted(device.name(), device.guid()));
        }
    }

    @Test
    void completionVectorsComeFromTheOpenDevice() throws InterruptedException {
        Device lo = Device.list().stream()
                .filter(device -> device.name().equals("rdma4j_lo"))
                .findFirst()
                .orElseThrow();
        int vectors;
        try (DeviceContext context = lo.open()) {
            vectors = context.completionVectors();
        }
        ToolRun text = ToolRun.start("ibv_devinfo -v -d rdma4j_lo");
        assertThat(text.status()).isZero();
        assertThat(text.out()).containsOnlyOnce("\n\tnum_comp_vectors:\t\t" + vectors + "\n");
        ToolRun json = ToolRun.start("ibv_devinfo --json -d rdma4j_lo");
        assertThat(json.status()).isZero();
        assertThat(json.out()).containsOnlyOnce("\"completionVectors\": " + vectors + ",");
    }

    @Test
    void namesAreListedWithTheirCount() throws InterruptedException {
        ToolRun run = ToolRun.start("ibv_devinfo --list");
        assertThat(run.status()).isZero();
        List<String> names = Device.list().stream().map(Device::name).toList();
        assertThat(run.out())
                .isEqualTo(names.size() + (names.size() == 1 ? " HCA" : " HCAs") + " found:\n\t"
                        + String.join("\n\t", names) + "\n\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "-d nope | -1 | IB device 'nope' wasn't found",
                "-d rdma4j_lo -i 2 | 4 | Invalid port requested for device",
                "-i 0 | 1 | ''",
                "-x | -1 | ibv_devinfo: invalid option -- 'x'",
                "--frob | -1 | ibv_devinfo: unrecognized option '--frob'",
                "--ib- 1 | -1 | ibv_devinfo: option '--ib-' is ambiguous; possibilities: '--ib-dev' '--ib-port'",
                "--ib-d | -1 | ibv_devinfo: option '--ib-dev' requires an argument",
                "--list=1 | -1 | ibv_devinfo: option '--list' doesn't allow an argument",
            })
    void invalidOptionsAreReportedAsInC(String words, int status, String message) throws InterruptedException {
        ToolRun run = ToolRun.start("ibv_devinfo " + words);
        assertThat(run.status()).isEqualTo(status);
        assertThat(run.err().strip()).isEqualTo(message);
    }

    @Test
    void standardOutputContainsOnlyJson() throws InterruptedException {
        ToolRun run = ToolRun.start("ibv_devinfo --json -d rdma4j_lo");
        assertThat(run.status()).isZero();
        assertThat(run.out())
                .startsWith("{\n  \"tool\": \"ibv_devinfo\",\n")
                .contains("\"name\": \"rdma4j_lo\"", "\"gid\": \"::ffff:127.0.0.1\"")
                .endsWith("  \"status\": 0,\n  \"reason\": null\n}\n");
        assertThat(run.err()).startsWith("hca_id:\trdma4j_lo\n");
    }

    @Test
    void eventsHaveTheLinesOfC() {
        assertThat(IbvAsyncwatch.line(new AsyncEvent(AsyncEvent.Type.PORT_ERROR, this, 1)))
                .isEqualTo("  event_type IBV_EVENT_PORT_ERR (10), port 1");
        assertThat(IbvAsyncwatch.line(new AsyncEvent(AsyncEvent.Type.PORT_ACTIVE, this, 2)))
                .isEqualTo("  event_type IBV_EVENT_PORT_ACTIVE (9), port 2");
        assertThat(IbvAsyncwatch.line(new AsyncEvent(AsyncEvent.Type.GID_CHANGE, this, 1)))
                .isEqualTo("  event_type IBV_EVENT_GID_CHANGE (18), port 1");
        assertThat(IbvAsyncwatch.line(new AsyncEvent(AsyncEvent.Type.DEVICE_FATAL, this)))
                .isEqualTo("  event_type IBV_EVENT_DEVICE_FATAL (8), port 0");
    }

    @Test
    void watchEndsWhenItIsInterrupted() throws InterruptedException {
        ToolRun run = ToolRun.start("ibv_asyncwatch -d rdma4j_lo").awaitText("waiting for");
        assertThat(run.out()).isEqualTo("rdma4j_lo: waiting for asynchronous events\n");
        assertThat(run.hasEnded()).isFalse();
        run.interrupt();
        assertThat(run.status()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "-d nope | 1 | IB device nope not found",
                "-h | 0 | ''",
                "-x | 1 | ibv_asyncwatch: invalid option -- 'x'",
            })
    void invalidOptionsOfTheWatchAreReportedAsInC(String words, int status, String message)
            throws InterruptedException {
        ToolRun run = ToolRun.start("ibv_asyncwatch " + words);
        assertThat(run.status()).isEqualTo(status);
        assertThat(run.err().strip()).isEqualTo(message);
    }
}
