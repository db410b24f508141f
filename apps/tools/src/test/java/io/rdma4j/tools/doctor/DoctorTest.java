package io.rdma4j.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.DatagramChannel;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DoctorTest {
    @Test
    void everyMachineHasALoopbackDevice() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintStream stream = new PrintStream(out, true, StandardCharsets.UTF_8);
        assertThat(new Doctor().run(List.of(), new ToolEnvironment(stream, stream)))
                .isZero();
        assertThat(out.toString(StandardCharsets.UTF_8))
                .contains("java      " + Runtime.version())
                .containsPattern("device    \\S+ on lo\\S*, up, path MTU \\d+")
                .containsPattern("0000:0000:0000:0000:0000:ffff:7f00:0001 +127\\.0\\.0\\.1 +UDP 4791 ");
    }

    @ParameterizedTest
    @CsvSource({"25, 1", "25.0.1, 1", "25.0.2+10, 1", "25.0.3, 0", "25.0.4, 0", "26, 0", "26.0.1, 0"})
    void javaVersionsWithTheDefectAreNamed(String version, int warnings) {
        assertThat(HostChecks.java(Runtime.Version.parse(version)).stream())
                .hasSize(warnings)
                .allMatch(text -> text.startsWith("Java " + version + " has the defect JDK-8377811"));
    }

    @Test
    void missingNativeAccessIsAWarningOnLinux() {
        assertThat(HostChecks.nativeAccess("Linux", false))
                .hasValueSatisfying(text -> assertThat(text).contains("--enable-native-access=io.rdma4j.link"));
        assertThat(HostChecks.nativeAccess("Linux", true)).isEmpty();
        assertThat(HostChecks.nativeAccess("Mac OS X", false)).isEmpty();
    }

    @Test
    void aSmallLimitOfReceiveBuffersIsAWarningExceptForRoot() {
        assertThat(HostChecks.receiveBuffer(212_992, false))
                .hasValueSatisfying(text -> assertThat(text).contains("net.core.rmem_max=4194304"));
        assertThat(HostChecks.receiveBuffer(212_992, true)).isEmpty();
        assertThat(HostChecks.receiveBuffer(4 << 20, false)).isEmpty();
    }

    @Test
    void processesAreNamed() {
        try (DeviceContext context =
                Device.of(InetAddress.ofLiteral("127.0.0.1")).orElseThrow().open()) {
            assertThat(context.device().name()).isNotEmpty();
            assertThat(HostChecks.processes().names())
                    .anyMatch(name -> name.startsWith(ProcessHandle.current().pid() + " ("));
        }
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "on other systems only 127.0.0.1 is loopback, and may be in use")
    void portInUseIsReported() throws IOException {
        InetAddress address = InetAddress.ofLiteral("127.0.0.77");
        assertThat(RocePort.state(address)).isEqualTo("UDP 4791 free");
        try (DatagramChannel holder = DatagramChannel.open()) {
            holder.bind(new InetSocketAddress(address, 4791));
            assertThat(RocePort.state(address)).startsWith("UDP 4791 in use");
        }
    }

    private static String socketsReport(Map<String, String> environment) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintStream stream = new PrintStream(out, true, StandardCharsets.UTF_8);
        SocketsReport.print(environment, stream, new ToolEnvironment(stream, stream).report());
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void environmentOfRunIsReportedWithTheTrafficThatStaysOnTcp() {
        assertThat(socketsReport(Map.of("JDK_JAVA_OPTIONS", "-Xmx1g")))
                .contains("sockets   programs use TCP, unless rdma4j run starts them", "  stays   datagrams");
        String agent = "-javaagent:/opt/agent/rdma4j-agent.jar";
        assertThat(socketsReport(Map.of("JDK_JAVA_OPTIONS", agent))).contains("JDK_JAVA_OPTIONS puts RDMA under");
        assertThat(socketsReport(Map.of(
                        "JAVA_TOOL_OPTIONS",
                        agent + " -Drdma4j.sockets.rules=*=tcp -Drdma4j.sockets.rules=10.1.0.0/16=tcp,*=rdma -Dx")))
                .contains(
                        "JAVA_TOOL_OPTIONS puts RDMA under programs, rules 10.1.0.0/16=tcp,*=rdma\n",
                        "  stays   connections by the rule 10.1.0.0/16=tcp\n")
                .doesNotContain("rule *=tcp");
    }
}
