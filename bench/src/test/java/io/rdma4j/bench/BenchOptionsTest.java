package io.rdma4j.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.bench.BenchOptions.UsageException;
import io.rdma4j.bench.plan.Pace;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BenchOptionsTest {
    @Test
    void defaultsMeasureAllRowsAtTheDefaultPace() throws Exception {
        assertThat(BenchOptions.parse(List.of())).isEqualTo(new BenchOptions(Pace.DEFAULT, null, null, null, 0, false));
    }

    @Test
    void optionsAreAcceptedInAnyOrder() throws Exception {
        BenchOptions options = BenchOptions.parse(List.of(
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
                "--list"));
        assertThat(options.pace()).isEqualTo(Pace.QUICK.withRepetitions(9));
        assertThat(options.html()).isEqualTo(Path.of("a.html"));
        assertThat(options.json()).isEqualTo(Path.of("b.json"));
        assertThat(options.only()).isNotNull();
        assertThat(options.patienceSeconds()).isEqualTo(5);
        assertThat(options.list()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"--fast", "--only", "--only [", "--repetitions 0", "--repetitions x", "--patience -1", "x"})
    void invalidOptionIsNamed(String line) {
        List<String> words = List.of(line.split(" "));
        assertThatThrownBy(() -> BenchOptions.parse(words))
                .isInstanceOf(UsageException.class)
                .hasMessageContaining(words.getFirst());
    }
}
