package io.rdma4j.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.bench.plan.Pace;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class BenchOptionsTest {
    private static BenchOptions parse(String... words) {
        return CommandLine.populateCommand(new BenchOptions(), words);
    }

    @Test
    void defaultsMeasureAllRowsAtTheDefaultPace() {
        BenchOptions options = parse();
        assertThat(options.pace()).isEqualTo(Pace.DEFAULT);
        assertThat(options.only()).isNull();
        assertThat(options.json()).isNull();
        assertThat(options.html()).isNull();
        assertThat(options.patienceSeconds()).isZero();
        assertThat(options.list()).isFalse();
    }

    @Test
    void optionsAreAcceptedInAnyOrder() {
        BenchOptions options = parse(
                "--repetitions",
                "9",
                "--html",
                "a.html",
                "--quick",
                "--json",
                "b.json",
                "--only",
                "WRITE",
                "--patience",
                "5",
                "--list");
        assertThat(options.pace()).isEqualTo(Pace.QUICK.withRepetitions(9));
        assertThat(options.html()).isEqualTo(Path.of("a.html"));
        assertThat(options.json()).isEqualTo(Path.of("b.json"));
        assertThat(options.only()).isNotNull();
        assertThat(options.patienceSeconds()).isEqualTo(5);
        assertThat(options.list()).isTrue();
    }

    @Test
    void fullMeasuresAllSizes() {
        assertThat(parse("--full").pace()).isEqualTo(Pace.FULL);
    }

    @Test
    void rowPatternIgnoresCase() {
        assertThat(parse("--only", "WRITE").only())
                .satisfies(only -> assertThat(only.matcher("write-64").find()).isTrue());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--fast",
                "--only",
                "--only [",
                "--only --list",
                "--repetitions 0",
                "--repetitions 101",
                "--repetitions x",
                "--patience -1",
                "--patience 601",
                "--json",
                "--quick --full",
                "x"
            })
    void wrongCommandLineIsExplainedInOneSentenceWithStatus2(String line) {
        String[] words = line.split(" ", -1);
        StringWriter out = new StringWriter();
        StringWriter errors = new StringWriter();
        int status = Main.commandLine()
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(errors))
                .execute(words);
        assertThat(status).isEqualTo(2);
        assertThat(errors.toString())
                .startsWith("checks/bench/run: ")
                .contains(words[0])
                .hasLineCount(1);
        assertThat(out.toString()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"-h", "--help", "--quick --help"})
    void helpNamesEveryOptionWithStatus0(String line) {
        StringWriter out = new StringWriter();
        int status = Main.commandLine().setOut(new PrintWriter(out)).execute(line.split(" ", -1));
        assertThat(status).isZero();
        assertThat(out.toString())
                .contains(
                        "usage: checks/bench/run",
                        "--quick",
                        "--full",
                        "--only",
                        "--repetitions",
                        "--json",
                        "--html",
                        "--patience",
                        "--list",
                        "--jmh");
    }
}
