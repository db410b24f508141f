package io.rdma4j.tools.devices;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.ToolRun;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.OnDemandOperation;
import io.rdma4j.verbs.PathMtu;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.QueuePairType;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class DeviceToolsTest {
    private static final DeviceAttributes DEVICE = DeviceAttributes.builder()
            .firmwareVersion("1.0")
            .nodeGuid(0x5054_00ff_fe88_0002L)
            .systemImageGuid(0x1L)
            .vendorId(0xff_ffff)
            .maxMemoryRegionBytes(1L << 46)
            .maxQueuePairs(32768)
            .maxQueuePairWorkRequests(16384)
            .maxScatterGather(32)
            .maxCompletionQueues(65536)
            .maxCompletionQueueEntries(4096)
            .maxMemoryRegions(1024)
            .maxMemoryWindows(640)
            .maxProtectionDomains(512)
            .maxSharedReceiveQueues(256)
            .maxSharedReceiveQueueWorkRequests(2048)
            .maxSharedReceiveQueueScatterGather(8)
            .maxReadAtomicPerQueuePair(128)
            .maxInitiatedReadAtomicPerQueuePair(64)
            .maxInlineBytes(1024)
            .localAckDelay(15)
            .ports(1)
            .onDemandPaging(true)
            .onDemandOperations(QueuePairType.RELIABLE_CONNECTION, Set.of(OnDemandOperation.values()))
            .onDemandOperations(QueuePairType.UNRELIABLE_DATAGRAM, Set.of(OnDemandOperation.SEND))
            .completionTimestampMask(0xffff_ffffL)
            .clockKilohertz(156_250)
            .build();
    private static final PortAttributes PORT =
            new PortAttributes(true, PathMtu.MTU_4096, PathMtu.MTU_1024, 1024, 1L << 31, "eth0");
    private static final List<Gid> GIDS =
            List.of(new Gid(0xfe80_0000_0000_0000L, 0x5054_00ff_fe88_0002L), Gid.ZERO, new Gid(0, 0xffff_0a58_0002L));

    private static String print(boolean verbose) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        DeviceInfo info = new DeviceInfo(new PrintStream(out, true, StandardCharsets.UTF_8), verbose);
        info.printDevice("rxe0", DEVICE, 6);
        info.printPort(1, PORT, GIDS);
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void shortFormatEqualsThatOfC() {
        assertThat(print(false)).isEqualTo("""
            hca_id:\trxe0
            \ttransport:\t\t\tInfiniBand (0)
            \tfw_ver:\t\t\t\t1.0
            \tnode_guid:\t\t\t5054:00ff:fe88:0002
            \tsys_image_guid:\t\t\t0000:0000:0000:0001
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

    @Test
    void longFormatHasLimitsAndGidsInTheColumnsOfC() {
        assertThat(print(true))
                .contains(
                        "\n\tmax_mr_size:\t\t\t0x400000000000\n",
                        "\n\tmax_qp:\t\t\t\t32768\n",
                        "\n\tdevice_cap_flags:\t\t0x01023800\n\t\t\t\t\tSYS_IMAGE_GUID\n",
                        "\n\t\t\t\t\tRC_RNR_NAK_GEN\n\t\t\t\t\tSRQ_RESIZE\n",
                        "\n\t\t\t\t\tSRQ_RESIZE\n\t\t\t\t\tMEM_WINDOW\n\t\t\t\t\tMEM_WINDOW_TYPE_2B\n",
                        "\n\tmax_res_rd_atom:\t\t4194304\n",
                        "\n\tmax_total_mcast_qp_attach:\t0\n",
                        "\n\tlocal_ca_ack_delay:\t\t15\n\tgeneral_odp_caps:\n\t\t\t\t\tODP_SUPPORT\n\trc_odp_caps:\n",
                        "\n\trc_odp_caps:\n\t\t\t\t\tSUPPORT_SEND\n\t\t\t\t\tSUPPORT_RECV\n\t\t\t\t\tSUPPORT_WRITE\n",
                        "\n\t\t\t\t\tSUPPORT_ATOMIC\n\t\t\t\t\tSUPPORT_SRQ\n\tuc_odp_caps:\n\t\t\t\t\tNO SUPPORT\n",
                        "\n\tud_odp_caps:\n\t\t\t\t\tSUPPORT_SEND\n\txrc_odp_caps:\n\t\t\t\t\tNO SUPPORT\n",
                        "\n\tcompletion timestamp_mask:\t\t\t0x00000000ffffffff\n\thca_core_clock:\t\t\t156250kHZ\n",
                        "\n\ttag matching not supported\n\tnum_comp_vectors:\t\t6\n\t\tport:\t1\n",
                        "\n\tmax_srq:\t\t\t256\n\tmax_srq_wr:\t\t\t2048\n\tmax_srq_sge:\t\t\t8\n",
                        "\n\t\t\tport_cap_flags2:\t0x0000\n",
                        """

                        \t\t\tphys_state:\t\tLINK_UP (5)
                        \t\t\tGID[  0]:\t\tfe80::5054:ff:fe88:2, RoCE v2
                        \t\t\tGID[  2]:\t\t::ffff:10.88.0.2, RoCE v2

                        """.substring(1));
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
    void completionVectorsAreThoseOfTheOpenDevice() throws InterruptedException {
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
}
