package io.rdma4j.tools.perftest;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.command.SingleRound;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.WarmUp;
import io.rdma4j.tools.command.WarmUpChoice;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that a round of the warm-up is short and succeeds with any options of the user. */
@Timeout(60)
class PerftestWarmUpTest {
    private static final int FIRST_WORK = 16;
    private static final int MUCH_WORK = 512;

    private static final List<String> OF_ALL = List.of("", "-R", "-z", "-D 5", "-n 1000000");

    private static final List<String> OF_ALL_BUT_ATOMICS =
            List.of("-s 1048576", "-s 2147483647", "-a", "-a -R", "-s 1");

    private static final List<String> OF_LATENCY = List.of("-H", "-U", "--latency_gap=1000000", "--output=latency");

    private static final List<String> OF_BANDWIDTH = List.of(
            "-b",
            "-b -R",
            "-q 4",
            "-q 4 -R -b",
            "-l 4",
            "-l 4 -Q 2",
            "-l 100 -n 100 -q 2",
            "-t 1",
            "-t 15000 -n 15000",
            "-q 200",
            "-l 100 -Q 20 -q 3",
            "-Q 1",
            "-Q 1024 -t 1024 -n 2000",
            "-N",
            "-D 5 -l 4",
            "-w 1000000",
            "-y 1000000",
            "--report-both",
            "--output=message_rate",
            "--run_infinitely -D 1");

    private static final List<String> OF_SENDS = List.of(
            "-c UC",
            "-c UC -e",
            "-c UC -s 65536",
            "-c UC -s 1048576",
            "-c UC -a",
            "-c UD -s 1024",
            "-c UD -R -s 1024",
            "-c UD -a",
            "-c UD -s 1024 -n 100000 -t 1000",
            "-r 1",
            "-r 7 -n 1000",
            "-r 16384 -n 20000",
            "-e",
            "-e -R");

    /** Options of writes, and options that do not depend on the operation. */
    private static final List<String> OF_WRITES = List.of(
            "-c UC",
            "-c UC -s 65536",
            "-c UC -a",
            "-I 100 -s 64",
            "-n 5",
            "-m 256",
            "-d no_such_device -i 7 -x 9 -X 3",
            "--ipv6",
            "--source_ip no.such.host.invalid",
            "--wait_destroy=60",
            "--perform_warm_up",
            "-p 1");

    private static final List<String> OF_FETCHES = List.of("-o 1", "-o 16", "-e");

    /** Returns the command lines of a tool. */
    private static Stream<String> of(MeasuredOperation operation, Measure measure) {
        List<String> ofOperation = switch (operation) {
            case SEND -> OF_SENDS;
            case WRITE -> OF_WRITES;
            case READ, ATOMIC -> OF_FETCHES;
        };
        return Stream.of(
                        OF_ALL,
                        operation == MeasuredOperation.ATOMIC ? List.<String>of() : OF_ALL_BUT_ATOMICS,
                        measure == Measure.LATENCY ? OF_LATENCY : OF_BANDWIDTH,
                        ofOperation)
                .flatMap(List::stream)
                .map(options -> (new Perftest(operation, measure).name() + " " + options).strip());
    }

    static List<String> lines() {
        return Stream.of(MeasuredOperation.values())
                .flatMap(operation -> Stream.of(Measure.values()).flatMap(measure -> of(operation, measure)))
                .toList();
    }

    private static WarmUp.Round round(String line) {
        List<String> words = List.of((line + " 192.0.2.1").split(" "));
        String[] tool = words.getFirst().toUpperCase(Locale.ROOT).split("_", -1);
        return new PerftestWarmUp(
                words.getFirst(),
                MeasuredOperation.valueOf(tool[1]),
                tool[2].equals("LAT") ? Measure.LATENCY : Measure.BANDWIDTH,
                words.subList(1, words.size()));
    }

    @ParameterizedTest
    @MethodSource("lines")
    void aRoundSucceedsWithTheOptionsOfTheUser(String line) throws Exception {
        SingleRound.requireSuccess(round(line), FIRST_WORK);
    }

    @Test
    void aLongRoundSucceeds() throws Exception {
        SingleRound.requireSuccess(round("ib_write_bw -a"), MUCH_WORK);
    }

    /** The user's client may connect at any time, even before the client of the warm-up has reached its server. */
    @ParameterizedTest
    @ValueSource(strings = {"ib_write_lat", "ib_send_bw -R", "ib_read_lat -z"})
    void aServerEndsItsWarmUpAtAnyTime(String line) throws InterruptedException {
        ToolEnvironment environment = new ToolEnvironment(System.out, System.err);
        environment.warmUp(WarmUpChoice.IF_MEASURING);
        for (int i = 0; i < 20; i++) {
            try (WarmUp running = WarmUp.start(round(line), environment)) {
                Thread.sleep(i); // another time in each round
                assertThat(running).isNotSameAs(WarmUp.NONE);
            }
        }
    }
}
