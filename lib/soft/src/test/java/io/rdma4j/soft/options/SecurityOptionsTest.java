package io.rdma4j.soft.options;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SecurityOptionsTest {
    @Test
    void optionsThatAreNotNamedHaveTheirDefaults() {
        SecurityOptions options = SecurityOptions.parse("source-port=enforce,request-rate=7");
        assertThat(options)
                .isEqualTo(new SecurityOptions(
                        SecurityOptions.SourcePort.ENFORCE,
                        7,
                        SecurityOptions.DEFAULT.requestBurst(),
                        SecurityOptions.DEFAULT.halfOpen(),
                        SecurityOptions.DEFAULT.connectionsPerPeer(),
                        SecurityOptions.Violations.REMOTE,
                        false));
    }

    @Test
    void everyOptionHasAName() {
        SecurityOptions options = SecurityOptions.parse("source-port=off,request-rate=1,request-burst=2,half-open=3,"
                + "connections=4,violations=all,foreign-requests=allow");
        assertThat(options)
                .isEqualTo(new SecurityOptions(
                        SecurityOptions.SourcePort.OFF, 1, 2, 3, 4, SecurityOptions.Violations.ALL, true));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "source-port",
                "source-port=",
                "source-port=maybe",
                "request-rate=0",
                "request-rate=-1",
                "request-rate=1000000001",
                "half-open=x",
                "foreign-requests=true",
                "sourceport=off",
                "half-open=1,half-open=2",
                "half-open=1,,connections=2"
            })
    void invalidTextIsRefusedWithTheSyntax(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SecurityOptions.parse(text))
                .withMessageContaining(SecurityOptions.SYNTAX);
    }
}
