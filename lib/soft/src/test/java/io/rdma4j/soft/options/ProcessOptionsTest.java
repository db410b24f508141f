package io.rdma4j.soft.options;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The options that consist of one system property each. */
class ProcessOptionsTest {
    @AfterEach
    void clear() {
        System.clearProperty(CongestionOption.PROPERTY);
        System.clearProperty(KeepAliveOption.PROPERTY);
    }

    @Test
    void congestionOptionHasTheNamedValue() {
        assertThat(CongestionOption.fromSystemProperty()).isEqualTo(CongestionOption.AUTO);
        System.setProperty(CongestionOption.PROPERTY, "Off");
        assertThat(CongestionOption.fromSystemProperty()).isEqualTo(CongestionOption.OFF);
        System.setProperty(CongestionOption.PROPERTY, "on");
        assertThat(CongestionOption.fromSystemProperty()).isEqualTo(CongestionOption.ON);
        System.setProperty(CongestionOption.PROPERTY, "yes");
        assertThatIllegalArgumentException()
                .isThrownBy(CongestionOption::fromSystemProperty)
                .withMessage("system property rdma4j.ecn: \"yes\" is not auto, on or off");
    }

    @Test
    void keepAliveIsANumberOfSecondsOrOff() {
        assertThat(KeepAliveOption.fromSystemProperty()).isEqualTo(Duration.ofMinutes(1));
        System.setProperty(KeepAliveOption.PROPERTY, "off");
        assertThat(KeepAliveOption.fromSystemProperty()).isZero();
        System.setProperty(KeepAliveOption.PROPERTY, "31536000");
        assertThat(KeepAliveOption.fromSystemProperty()).isEqualTo(Duration.ofDays(365));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "-1", "31536001", "10s", "999999999999"})
    void otherKeepAliveTimesAreRefused(String text) {
        System.setProperty(KeepAliveOption.PROPERTY, text);
        assertThatIllegalArgumentException()
                .isThrownBy(KeepAliveOption::fromSystemProperty)
                .withMessageContaining("\"" + text + "\" is neither off nor a number of seconds from 1 to 31536000");
    }
}
