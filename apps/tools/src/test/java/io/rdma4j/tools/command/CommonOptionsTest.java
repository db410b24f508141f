package io.rdma4j.tools.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CommonOptionsTest {
    private static CommonOptions parse(String words) throws CommonOptions.UsageException {
        return CommonOptions.parse(List.of(words.split(" ")));
    }

    @Test
    void optionsAreExtractedFromAnyPosition() throws Exception {
        CommonOptions options = parse(
                "--trace rping -c --fault=loss=1%,seed=7 -a ::1 --no-shared-memory --pcap x.pcapng -v --json --device"
                        + " soft");
        assertThat(options)
                .isEqualTo(new CommonOptions(
                        List.of("rping", "-c", "-a", "::1", "-v"),
                        Path.of("x.pcapng").toAbsolutePath(),
                        "loss=1%,seed=7",
                        true,
                        false,
                        "soft",
                        true,
                        WarmUpChoice.IF_MEASURING,
                        false));
    }

    @Test
    void theWarmUpCanBeExcluded() throws Exception {
        CommonOptions options = parse("ib_write_lat -R --no-warm-up 127.0.0.1");
        assertThat(options.warmUp()).isEqualTo(WarmUpChoice.NEVER);
        assertThat(options.arguments()).containsExactly("ib_write_lat", "-R", "127.0.0.1");
        assertThat(parse("ib_write_lat -- --no-warm-up").warmUp()).isEqualTo(WarmUpChoice.IF_MEASURING);
        assertThat(parse("--warm-up rping -s").warmUp()).isEqualTo(WarmUpChoice.ALWAYS);
    }

    @Test
    void argumentsAfterTwoHyphensBelongToTheTool() throws Exception {
        CommonOptions options = parse("rping -s -- --trace --help");
        assertThat(options.arguments()).containsExactly("rping", "-s", "--", "--trace", "--help");
        assertThat(options.trace()).isFalse();
        assertThat(options.help()).isFalse();
    }

    @Test
    void unknownLongOptionsAreLeftToTheTool() throws Exception {
        assertThat(parse("rping --frobnicate --x=y").arguments()).containsExactly("rping", "--frobnicate", "--x=y");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "rping --pcap | requires a value",
                "rping --fault lost=1% | there is no fault 'lost'",
                "rping --fault loss=200% | loss",
                "rping --pcap /no/such/folder/x | directory /no/such/folder does not exist",
                "rping --pcap / | is a directory",
            })
    void wrongValueIsExplained(String words, String explanation) {
        assertThatExceptionOfType(CommonOptions.UsageException.class)
                .isThrownBy(() -> parse(words))
                .withMessageContaining(explanation);
    }
}
