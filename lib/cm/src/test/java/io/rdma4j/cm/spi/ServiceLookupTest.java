package io.rdma4j.cm.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.cm.AddressLookupException;
import io.rdma4j.cm.spi.ServiceLookup.Protocol;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks the ports of services. The expected values are results of glibc's getaddrinfo with the same file. */
class ServiceLookupTest {
    private static final String SERVICES = """
            # network services
            echo\t\t7/tcp
            domain          53/tcp   # name \u00e4 server
            domain          154/udp
            tftp            69/udp
            \thttp 80/tcp     www  www-http# comment
            broken          x/tcp
            large           70000/tcp
            alone
            #hidden         81/tcp
            both            82/udp
            both            83/tcp
            """;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({
        "echo, TCP, 7",
        "domain, TCP, 53",
        "domain, UDP, 154",
        "domain, , 53",
        "both, , 83",
        "tftp, , 69",
        "tftp, UDP, 69",
        "http, TCP, 80",
        "www, TCP, 80",
        "www-http, TCP, 80",
        "443, TCP, 443",
        "443, UDP, 443",
        "' 80', TCP, 80",
        "+80, TCP, 80",
        "007, , 7",
        "0, , 0",
        "65535, , 65535",
        "'', TCP, 0"
    })
    void namesAliasesAndNumbersArePorts(String service, @Nullable Protocol protocol, int port) throws IOException {
        assertThat(ServiceLookup.port("test", service, protocol, file())).isEqualTo(port);
    }

    @ParameterizedTest
    @CsvSource({"tftp, TCP", "echo, UDP", "ECHO, TCP", "80/tcp, TCP", "broken, TCP", "large, TCP", "alone, TCP"})
    void namesWithoutAPortForTheProtocolAreUnknown(String service, Protocol protocol) throws IOException {
        refuses(service, protocol, file());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"-1", "65536", "99999999999999999999", "80 ", "0x50", "hidden", "#hidden", "name", "comment"})
    void otherTextsAreUnknown(String service) throws IOException {
        refuses(service, null, file());
    }

    @Test
    void withoutTheFileOnlyNumbersArePorts() {
        Path absent = folder.resolve("absent");
        refuses("echo", null, absent);
        assertThat(ServiceLookup.port("test", "7", null, absent)).isEqualTo(7);
    }

    private static void refuses(String service, @Nullable Protocol protocol, Path services) {
        assertThatThrownBy(() -> ServiceLookup.port("test", service, protocol, services))
                .isInstanceOfSatisfying(AddressLookupException.class, refused -> {
                    assertThat(refused.reason()).isEqualTo(AddressLookupException.Reason.SERVICE_UNKNOWN);
                    assertThat(refused.getMessage()).contains("'" + service + "'");
                });
    }

    private Path file() throws IOException {
        return Files.writeString(folder.resolve("services"), SERVICES, StandardCharsets.ISO_8859_1);
    }
}
