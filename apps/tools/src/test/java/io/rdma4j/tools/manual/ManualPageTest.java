package io.rdma4j.tools.manual;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.Main;
import io.rdma4j.tools.command.Tool;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class ManualPageTest {
    private static final Pattern OPTION = Pattern.compile("(?<![\\w-])--?[A-Za-z0-9][\\w-]*");

    static Stream<Tool> tools() {
        return Main.tools().stream();
    }

    /** The styles of librdmacm, perftest and this project. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "-S size \tping data size | -S | size | ping data size",
                "-c\t\tclient side | -c | '' | client side",
                "[-s server_address] | -s | server_address | ''",
                "[-c num_conns] connections per listener | -c | num_conns | connections per listener",
                "[-m(igrate)] | -m | '' | migrate",
                "[-o join as a send-only full-member] | -o | '' | join as a send-only full-member",
                "[-p port_space - 0x111 for UDP (default), 0x2 for IPOIB] | -p | port_space | 0x111 for UDP (default), 0x2 for IPOIB",
                "-s, --size=<size>   bytes of a message | -s --size | size | bytes of a message",
                "-g, --gid-idx=<gid index> local port gid index | -g --gid-idx | gid index | local port gid index",
                "-S, -F, --use_old_post_send accepted, without effect | -S -F --use_old_post_send | '' | accepted, without effect",
                "--seed N   seed of the first run | --seed | N | seed of the first run",
                "-a address   the local address | -a | address | the local address",
            })
    void optionIsReadFromALineOfAHelpText(String line, String names, String argument, String description) {
        HelpOption option = Objects.requireNonNull(HelpOption.parse("\t" + line.replace("\\t", "\t")));
        assertThat(String.join(" ", option.names())).isEqualTo(names);
        assertThat(option.argument()).isEqualTo(argument.replace("''", ""));
        assertThat(option.summary()).isEqualTo(description.replace("''", ""));
    }

    /** A handwritten section OPTIONS must have the options of the help text, and no others. */
    @ParameterizedTest
    @MethodSource("tools")
    void pageHasTheOptionsOfTheHelpText(Tool tool) {
        String page = ManualPage.of(tool).replace("\\-", "-");
        Set<String> expected = HelpText.parse(tool.name(), tool.help()).options().stream()
                .map(option -> option.names().getFirst())
                .collect(Collectors.toCollection(TreeSet::new));
        String options = Pattern.compile("(?m)^\\.SH ")
                .splitAsStream(page)
                .filter(section -> section.startsWith("OPTIONS") && !section.startsWith("OPTIONS OF EVERY TOOL"))
                .collect(Collectors.joining());
        Set<String> described = Pattern.compile("(?m)^\\.TP\\n\\.B[IR]? (.*)$")
                .matcher(options)
                .results()
                .flatMap(item -> OPTION.matcher(item.group(1)).results().limit(1))
                .map(result -> result.group())
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(described).isEqualTo(expected);
    }

    @ParameterizedTest
    @MethodSource("tools")
    void pageHasTheSectionsOfAManualPage(Tool tool) {
        assertThat(ManualPage.of(tool))
                .startsWith(".TH RDMA4J\\-" + tool.name().toUpperCase(Locale.ROOT) + " 1 ")
                .contains(
                        ".SH NAME\nrdma4j\\-" + tool.name() + " \\- ",
                        ".SH SYNOPSIS\n",
                        ".SH DESCRIPTION\n",
                        ".SH SEE ALSO\n");
    }

    @Test
    void pageOfTheCommandListsEveryTool() {
        String page = ManualPage.ofCommand(Main.tools());
        for (Tool tool : Main.tools()) {
            assertThat(page).contains(".B " + tool.name() + "\n");
        }
        assertThat(page).contains("\\-\\-pcap");
    }

    @Test
    void commonOptionsAreThoseOfTheHelpText() {
        assertThat(HelpText.commonOptions().stream().flatMap(option -> option.names().stream()))
                .isEqualTo(List.of(
                        "--pcap",
                        "--fault",
                        "--trace",
                        "--no-shared-memory",
                        "--device",
                        "--no-warm-up",
                        "--warm-up",
                        "--json",
                        "--help"));
    }
}
