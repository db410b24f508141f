package io.rdma4j.tools.command;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests {@code atoi} and {@code strtol} against the output of a C program that calls glibc. */
class CStringsTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "0 | 0",
                "7174 | 7174",
                "-5 | -5",
                "+5 | 5",
                "` \t\n12` | 12",
                "12x | 12",
                "0x10 | 0",
                "x | 0",
                "`` | 0",
                "- | 0",
                "--5 | 0",
                "2147483647 | 2147483647",
                "2147483648 | -2147483648",
                "4294967296 | 0",
                "4294967301 | 5",
                "9223372036854775807 | -1",
                "9223372036854775808 | -1",
                "99999999999999999999 | -1",
                "-9223372036854775808 | 0",
                "-99999999999999999999 | 0",
            })
    void atoiParsesLikeGlibc(String text, int expected) {
        assertThat(CStrings.atoi(text)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "10, 10",
        "0x1f, 31",
        "017, 15",
        "-0x10, -16",
        "' +7x', 7",
        "0x, 0",
        "08, 0",
        "99999999999999999999, 9223372036854775807",
        "'', 0"
    })
    void strtolDerivesTheBaseFromThePrefix(String text, long value) {
        assertThat(CStrings.strtol(text)).isEqualTo(value);
    }
}
