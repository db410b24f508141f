package io.rdma4j.soft.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.verbs.PortAttributes;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The speed of a port, as a number of lanes and a speed per lane. */
class LinkSpeedTest {
    @ParameterizedTest
    @CsvSource({
        "0, 2500",
        "100, 2500",
        "1000, 2500",
        "2500, 10000",
        "10000, 10000",
        "20000, 20000",
        "25000, 25000",
        "40000, 40000",
        "50000, 100000",
        "100000, 100000",
        "400000, 100000",
    })
    void speedIsThatOfTheKernel(int ofInterface, int ofPort) {
        LinkSpeed speed = LinkSpeed.of(ofInterface);
        PortAttributes port = PortAttributes.builder()
                .activeWidth(speed.width())
                .activeSpeed(speed.laneSpeed())
                .build();
        assertThat(port.megabitsPerSecond()).isEqualTo(ofPort);
    }
}
