package io.rdma4j.conformance.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MainTest {
    @ParameterizedTest
    @ValueSource(strings = {"--fast", "--device", "--peer", "--fast OperationsTest"})
    void wrongCommandLineIsExplainedInOneSentenceWithStatus2(String line) {
        String[] words = line.split(" ", -1);
        StringWriter errors = new StringWriter();
        int status = Main.commandLine().setErr(new PrintWriter(errors)).execute(words);
        assertThat(status).isEqualTo(2);
        assertThat(errors.toString())
                .startsWith("checks/conformance/run: ")
                .contains(words[0])
                .hasLineCount(1);
    }

    @Test
    void helpNamesEveryOptionWithStatus0() {
        StringWriter out = new StringWriter();
        int status = Main.commandLine().setOut(new PrintWriter(out)).execute("--help");
        assertThat(status).isZero();
        assertThat(out.toString()).contains("--device", "--peer", "--list", "CLASS");
    }
}
