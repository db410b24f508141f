package io.rdma4j.bench.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.bench.worker.WorkerReport.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class WorkerReportTest {
    @ParameterizedTest
    @EnumSource(Kind.class)
    void reportIsReadFromItsLine(Kind kind) {
        WorkerReport report = new WorkerReport(kind, "a text = \"b\"");
        assertThat(WorkerReport.parse(report.toString())).isEqualTo(report);
    }

    @Test
    void reportIsOneLine() {
        assertThat(new WorkerReport(Kind.ERROR, "drive: first\nsecond\r\nthird").toString())
                .hasLineCount(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "port", "ports 12", "[1700000000.1] UCX WARN no device"})
    void outputOfLibrariesIsNoReport(String line) {
        assertThat(WorkerReport.parse(line)).isNull();
    }
}
