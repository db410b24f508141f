package io.rdma4j.programs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class OutcomeTableTest {
    private static final Program PROGRAM = Programs.ALL.getFirst();

    private static Outcome outcome(Transport transport, double rate, int tcpConnections) {
        return new Outcome(PROGRAM.name(), transport, "1.2", rate, tcpConnections, 0.015, true, 12, "closed", null);
    }

    @Test
    void aProgramHasOneLineWithTheTimeOverRdmaAsAMultipleOfTcps() {
        String table = OutcomeTable.text(
                List.of(PROGRAM), List.of(outcome(Transport.TCP, 300, 2), outcome(Transport.RDMA, 200, 0)));

        assertThat(table.lines().skip(2))
                .singleElement()
                .asString()
                .matches("netty +1\\.2 +300\\.0 +200\\.0 +1\\.50 +0 +1\\.5 +1\\.5 +serves +12 +12");
    }

    @Test
    void aConnectionThatUsedTcpInsteadOfRdmaIsAFailure() {
        Outcome outcome = outcome(Transport.RDMA, 200, 2);

        assertThat(outcome.whatFailed()).contains("2 connections used TCP");
        assertThat(OutcomeTable.text(List.of(PROGRAM), List.of(outcome))).contains("netty over RDMA FAILED");
    }

    @Test
    void aProgramThatCouldNotBeRunHasItsReason() {
        Outcome outcome = Outcome.problem(PROGRAM, Transport.RDMA, "the process ended");

        assertThat(OutcomeTable.text(List.of(PROGRAM), List.of(outcome)))
                .contains("netty over RDMA FAILED: the process ended");
    }
}
