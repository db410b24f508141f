package io.rdma4j.tools.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OptionTableTest {
    private static final OptionTable<List<String>> TABLE = OptionTable.<List<String>>aligned(18)
            .option("-s, --size=<size>", "bytes of a message", (taken, value) -> taken.add("size " + value))
            .option("    --ipv6", "prefer IPv6\nto IPv4", "Prefer `IPv6`.", (taken, value) -> taken.add("ipv6" + value))
            .option("-S", "sockets", (taken, value) -> taken.add("sockets " + value))
            .ignoringRest()
            .hidden("-F, --frequency", (taken, _) -> taken.add("frequency"))
            .option("-r, --rx-depth=<depth>", "receives", (taken, value) -> taken.add("depth " + value))
            .documentedIf(false)
            .option("-x", "refused", (_, _) -> {
                throw new ToolFailure(7);
            })
            .note("-F", "accepted, without effect");

    private final List<String> taken = new ArrayList<>();
    private final ByteArrayOutputStream messages = new ByteArrayOutputStream();

    private List<String> parse(String words) throws ToolFailure {
        return TABLE.parse(
                "tool",
                List.of(words.split(" ")),
                taken,
                new PrintStream(messages, true, StandardCharsets.UTF_8),
                letter -> new ToolFailure(letter));
    }

    /** The styles of librdmacm, perftest and this project. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "-S size \t | ping data size | -S | size | ping data size",
                "-c\t\t | client side | -c | '' | client side",
                "[-s server_address] | '' | -s | server_address | ''",
                "[-c num_conns] | connections per listener | -c | num_conns | connections per listener",
                "[-S transfer_size or all] | '' | -S | transfer_size or all | ''",
                "[-m(igrate)] | '' | -m | '' | migrate",
                "[-o | join as a send-only full-member | -o | '' | join as a send-only full-member",
                "[-p port_space - | 0x111 for UDP | -p | port_space | 0x111 for UDP",
                "-g, --gid-idx=<gid index> | local port gid index | -g --gid-idx | gid index | local port gid index",
                "    --flow_label=<label,...> | flow labels | --flow_label | label,... | flow labels",
                "-S, -F, --use_old_post_send | accepted | -S -F --use_old_post_send | '' | accepted",
                "-d, --delay SECONDS | time | -d --delay | SECONDS | time",
            })
    void namesAndArgumentAreThoseInTheSyntax(
            String syntax, String text, String names, String argument, String description) {
        Option<Void> option = Option.of(syntax.replace("\\t", "\t"), text.replace("''", ""), "", true, null);
        assertThat(String.join(" ", option.names())).isEqualTo(names);
        assertThat(option.argument()).isEqualTo(argument.replace("''", ""));
        assertThat(option.summary()).isEqualTo(description.replace("''", ""));
    }

    @Test
    void eachOptionHasItsLinesInTheHelpText() {
        assertThat(TABLE.usage().lines())
                .containsExactly(
                        "  -s, --size=<size>  bytes of a message",
                        "      --ipv6         prefer IPv6",
                        "to IPv4",
                        "  -S                 sockets",
                        "  -x                 refused",
                        "  -F                 accepted, without effect");
        assertThat(OptionTable.<Void>tabbed()
                        .note("-c\t\t", "client side")
                        .note("[-s server]", "")
                        .note("[-f format]", "\n\t  name or ip")
                        .note("[-o", "send only")
                        .usage())
                .isEqualTo("\t-c\t\tclient side\n\t[-s server]\n\t[-f format]\n\t  name or ip\n\t[-o send only]\n");
    }

    @Test
    void optionsChangeTheSettingsInTheOrderOfTheCommandLine() throws ToolFailure {
        assertThat(parse("-Sx a --siz=5 -F --ipv6 --frequency b -s6 -r 1 --rx-depth 2"))
                .containsExactly("a", "b");
        assertThat(taken)
                .containsExactly(
                        "sockets x", "size 5", "frequency", "ipv6", "frequency", "size 6", "depth 1", "depth 2");
    }

    @ParameterizedTest
    @CsvSource({"-q, 113", "-s, 115", "--nosuch, 0", "-x, 7", "-?, 63"})
    void invalidOptionEndsTheParsing(String word, int status) {
        assertThatExceptionOfType(ToolFailure.class)
                .isThrownBy(() -> parse("-F " + word))
                .returns(status, ToolFailure::status);
        assertThat(taken).containsExactly("frequency");
        assertThat(messages.toString(StandardCharsets.UTF_8)).contains(status == 7 ? "" : "tool: ");
    }

    @Test
    void hiddenOptionsAreNotDocumented() {
        assertThat(TABLE.documented().stream().map(option -> option.names().getFirst()))
                .containsExactly("-s", "--ipv6", "-S", "-x", "-F");
    }

    @Test
    void tableMayBeLimitedToSomeLetters() {
        assertThat(TABLE.only("xs").documented().stream()
                        .map(option -> option.names().getFirst()))
                .containsExactly("-s", "-x");
    }
}
