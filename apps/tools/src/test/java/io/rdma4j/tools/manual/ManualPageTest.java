package io.rdma4j.tools.manual;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.Main;
import io.rdma4j.tools.command.Tool;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ManualPageTest {
    static Stream<Tool> tools() {
        return Main.tools().stream();
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
    void wordsBetweenBackquotesAreBold() {
        assertThat(Troff.paragraph("To serve IPv6 use `-a ::0`.")).isEqualTo("To serve IPv6 use \\fB\\-a ::0\\fR.");
    }
}
