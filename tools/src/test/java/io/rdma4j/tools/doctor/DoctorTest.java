package io.rdma4j.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.command.ToolEnvironment;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.DatagramChannel;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

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

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "elsewhere only 127.0.0.1 is loopback, and may be in use")
    void portInUseIsReported() throws IOException {
        InetAddress address = InetAddress.ofLiteral("127.0.0.77");
        assertThat(RocePort.state(address)).isEqualTo("UDP 4791 free");
        try (DatagramChannel holder = DatagramChannel.open()) {
            holder.bind(new InetSocketAddress(address, 4791));
            assertThat(RocePort.state(address)).startsWith("UDP 4791 in use");
        }
    }
}
