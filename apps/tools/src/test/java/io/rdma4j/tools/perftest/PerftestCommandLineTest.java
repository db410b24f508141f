package io.rdma4j.tools.perftest;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.ToolRun;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PerftestCommandLineTest {
    private static Settings read(MeasuredOperation operation, Measure measure, String words) throws ToolFailure {
        Settings settings = new Settings(operation, measure);
        PrintStream out = new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8);
        List<String> arguments = words.isEmpty() ? List.of() : List.of(words.split(" "));
        new PerftestCommandLine("tool", settings, new ToolEnvironment(out, out)).read(arguments);
        return settings;
    }

    @Test
    void defaultsMatchPerftest() throws ToolFailure {
        Settings writes = read(MeasuredOperation.WRITE, Measure.BANDWIDTH, "");
        assertThat(List.of(writes.iterations, writes.sizeBytes, writes.sendDepth, writes.moderation, writes.port))
                .asString()
                .isEqualTo("[5000, 65536, 128, 1, 18515]");
        Settings sends = read(MeasuredOperation.SEND, Measure.LATENCY, "");
        assertThat(List.of(sends.iterations, sends.sizeBytes, sends.sendDepth, sends.moderation, sends.receiveDepth))
                .asString()
                .isEqualTo("[1000, 2, 1, 1, 512]");
        Settings atomics = read(MeasuredOperation.ATOMIC, Measure.BANDWIDTH, "");
        assertThat(List.of(atomics.iterations, atomics.sizeBytes, atomics.moderation))
                .asString()
                .isEqualTo("[1000, 8, 100]");
    }

    @ParameterizedTest
    @CsvSource({"70000, 4464", "-1, 65535", "4294967297, 1", "0x1f90, 8080"})
    void thePortHasTheLower16BitsOfItsNumberAsInC(String number, int port) throws ToolFailure {
        assertThat(read(MeasuredOperation.WRITE, Measure.BANDWIDTH, "-p " + number).port)
                .isEqualTo(port);
    }

    @ParameterizedTest
    @CsvSource({"100M, 100", "abc, 0", "2.5e1x, 25", ".5, 0.5", "+7, 7"})
    void limitsEndAtTheFirstOtherCharacterAsInC(String text, float limit) throws ToolFailure {
        Settings settings = read(MeasuredOperation.WRITE, Measure.BANDWIDTH, "-w " + text + " -y " + text);
        assertThat(settings.minBandwidth).isEqualTo(limit);
        assertThat(settings.minMessageRate).isEqualTo(limit);
    }

    @Test
    void flowLabelsAreAssignedToQueuePairsInTurn() throws ToolFailure {
        Settings labelled = read(MeasuredOperation.WRITE, Measure.BANDWIDTH, "--flow_label=0x10,7");
        assertThat(List.of(labelled.flowLabel(0), labelled.flowLabel(1), labelled.flowLabel(2)))
                .containsExactly(16, 7, 16);
        assertThat(read(MeasuredOperation.WRITE, Measure.BANDWIDTH, "").flowLabel(3))
                .isZero();
    }

    @Test
    void optionsHaveShortAndLongNames() throws ToolFailure {
        Settings shortNames =
                read(MeasuredOperation.SEND, Measure.BANDWIDTH, "-n 10 -s 0x40 -t 9 -q 2 -r 8 -c UD -R -p 7 -b h");
        Settings longNames = read(
                MeasuredOperation.SEND,
                Measure.BANDWIDTH,
                "--iters=10 --size 64 --tx-depth=9 --qp 2 --rx-depth=8 --connection=UD --rdma_cm --port=7 "
                        + "--bidirectional h");
        for (Settings each : List.of(shortNames, longNames)) {
            assertThat(List.of(each.iterations, each.sizeBytes, each.sendDepth, each.queuePairs, each.receiveDepth))
                    .asString()
                    .isEqualTo("[10, 64, 9, 2, 8]");
            assertThat(each.connection).isEqualTo(ConnectionType.UD);
            assertThat(each.rdmaCm && each.rdmaCmControl && each.bidirectional).isTrue();
            assertThat(each.port).isEqualTo(7);
            assertThat(each.server).isEqualTo("h");
        }
    }

    @Test
    void everyToolAcceptsACompletionVectorEvenWithoutEvents() throws ToolFailure {
        for (MeasuredOperation operation : MeasuredOperation.values()) {
            for (Measure measure : Measure.values()) {
                assertThat(read(operation, measure, "").completionVector).isZero();
                assertThat(read(operation, measure, "-X 3").completionVector).isEqualTo(3);
                assertThat(read(operation, measure, "--vector=0x10").completionVector)
                        .isEqualTo(16);
            }
        }
        assertThat(read(MeasuredOperation.SEND, Measure.LATENCY, "-e -X 2048").completionVector)
                .isEqualTo(2048);
    }

    @Test
    void depthsAndModerationFollowTheCount() throws ToolFailure {
        Settings few = read(MeasuredOperation.SEND, Measure.BANDWIDTH, "-n 21 -s 64");
        assertThat(few.sendDepth).isEqualTo(21);
        assertThat(few.receiveDepth).isEqualTo(22); // rounded up to an even number, as in perftest
        assertThat(few.moderation).isEqualTo(21);
        assertThat(read(MeasuredOperation.SEND, Measure.BANDWIDTH, "-c UD").receiveDepth)
                .isEqualTo(1000);
        assertThat(read(MeasuredOperation.WRITE, Measure.BANDWIDTH, "-a").moderation)
                .isEqualTo(100);
        assertThat(read(MeasuredOperation.WRITE, Measure.BANDWIDTH, "-n 30000 -s 64").noPeak)
                .isTrue();
        assertThat(read(MeasuredOperation.WRITE, Measure.BANDWIDTH, "-D 9").marginSeconds)
                .isEqualTo(2);
        assertThat(read(MeasuredOperation.WRITE, Measure.BANDWIDTH, "-s 2M -Q 4").moderation)
                .isEqualTo(4);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            ignoreLeadingAndTrailingWhitespace = false,
            value = {
                "ib_write_lat|-n 4| Iteration num should be between 5 and 100000000",
                "ib_write_lat|-n x| Iteration num argument x should be int",
                "ib_write_lat|-q 2| Multiple QPs only available on bw tests",
                "ib_write_lat|-b| Bidirectional is only available in BW test",
                "ib_write_lat|-N| NoPeak only valid for BW tests",
                "ib_write_lat|-e| Events feature not available on WRITE verb",
                "ib_write_lat|-r 5| On RDMA verbs rx depth can be only 1",
                "ib_send_lat|--write_with_imm|Write_with_imm can only be used with write_lat and write_bw tests",
                "ib_read_bw|--send_with_imm|Send_with_imm can only be used with send_lat and send_bw tests",
                "ib_write_bw|--cqe_poll=0| CQE Poll should be between 1 and 65535",
                "ib_write_bw|--flow_label=1,1048576| Flow label should be between 0 and 1048575",
                "ib_write_bw|--flow_label=1,x| Flow label argument x should be int",
                "ib_write_lat|-o 5| Setting Outstanding reads only available on READ verb",
                "ib_read_lat|-I 5| Inline feature not available on READ/Atomic verbs",
                "ib_write_bw|-H| Available only on Latency tests",
                "ib_write_bw|-Q 0| CQ moderation should be between 1 and 1024",
                "ib_write_bw|-D 0| Duration period must be positive",
                "ib_write_bw|-f -1 -D 5| Margin must be non-negative",
                "ib_write_bw|-s 0| Message Size should be between 1 and 2147483647",
                "ib_write_bw|-i 0|IB Port can't be less than 1",
                "ib_write_bw|-X 2049| EQN should be between 0 and 2048",
                "ib_send_lat|-X -1| EQN should be between 0 and 2048",
                "ib_read_lat|--vector=x| EQN argument x should be int",
                "ib_write_bw|-w -1| Invalid Minimum BW Limit",
                "ib_write_bw|-A FETCH_AND_ADD| You are not running the atomic_lat/bw test!",
                "ib_send_bw|-p 1x h| Port argument 1x should be int",
                "ib_write_bw|-n 4294967306| Iteration num should be between 5 and 100000000",
                "ib_write_bw|a b| Invalid Command line. Please check command rerun ",
                "ib_write_bw|--output=x| Invalid verbosity level output flag. Please use bandwidth, latency,"
                        + " message_rate",
            })
    void invalidValuesAreReportedAsByPerftest(String tool, String words, String line) throws InterruptedException {
        ToolRun run = ToolRun.start(tool + " " + words);
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err()).startsWith(line + "\n").endsWith(" Parser function exited with Error\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            ignoreLeadingAndTrailingWhitespace = false,
            value = {
                "ib_read_lat|-c UC| UC connection not possible in READ/ATOMIC verbs",
                "ib_write_lat|-c UD| UD connection only possible in SEND verb",
                "ib_send_lat|-c RD| Invalid Connection type. Please choose from {RC,UC,UD,XRC,DC,SRD}",
                "ib_atomic_lat|-A X| Invalid Atomic type! please choose from {CMP_AND_SWAP,FETCH_AND_ADD}",
                "ib_send_bw|-D 2 -e|Duration mode doesn't work with events.",
                "ib_send_bw|-D 2 -a|Duration mode currently doesn't support running on all sizes.",
                "ib_send_bw|-D 4 -f 2|please check that DURATION > 2*MARGIN",
                "ib_send_bw|-c XRC -R| XRC does not support RDMA_CM",
                "ib_send_bw|--recv_post_list=3 -n 10|Number of iterations must be a multiple of receive post list size",
                "ib_send_lat|--recv_post_list=2 -n 10|Receive post list is supported in BW tests only",
                "ib_send_bw|--recv_post_list=5 -n 10 -r 4|Receive post list size must not be above the rx depth of each"
                        + " queue pair, 4",
                "ib_send_bw|-l 3 -n 10|Number of iterations must be a multiple of post list size",
                "ib_send_bw|-l 4 -n 8 -Q 3|Post list size must be a multiple of CQ moderation",
                "ib_send_lat|-l 4 -n 8|Post list is supported in BW tests only",
                "ib_send_bw|--run_infinitely -b| run_infinitely mode is not supported in SEND Bidirectional BW test",
                "ib_send_lat|--run_infinitely| run_infinitely exists only in BW tests for now.",
                "ib_send_bw|--latency_gap=1| Latency gap feature is only for latency tests",
                "ib_send_bw|--output=latency| Output verbosity level for BW can be: bandwidth, message_rate",
                "ib_send_lat|--output=bandwidth| Output verbosity level for LAT can be: latency",
                "ib_send_lat|-d nope|IB device nope not found",
                "ib_write_bw|-d nope|IB device nope not found",
            })
    void conflictingOptionsAreReportedAsByPerftest(String tool, String words, String line) throws InterruptedException {
        ToolRun run = ToolRun.start(tool + " " + words);
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err()).startsWith(line + "\n").doesNotContain("Parser");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            ignoreLeadingAndTrailingWhitespace = false,
            value = {
                "ib_send_lat|-R -c UC| UC is not supported in librdmacm",
                "ib_write_bw|--use-srq| Using SRQ only avavilible in SEND / SEND_IMM tests.",
                "ib_send_bw|--use-srq -q 9 -r 8| Using SRQ depth should be greater than number of QPs.",
                "ib_send_lat|-T 4| TOS only valid for rdma_cm based QP and RawEth QP ",
                "ib_atomic_bw|-s 16|Message size cannot be changed for Atomic tests ",
                "ib_send_lat|-L 5| Hop limit only valid for RawEth QP ",
            })
    void someErrorsAreReportedOnStandardOutput(String tool, String words, String line) throws InterruptedException {
        ToolRun run = ToolRun.start(tool + " " + words);
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out()).endsWith(line + "\n");
        assertThat(run.err()).isEmpty();
    }

    /** As in C, where two tools have a special status for this. */
    @ParameterizedTest
    @ValueSource(strings = {"ib_read_bw", "ib_atomic_bw"})
    void twoToolsHaveASpecialStatusForAMissingDevice(String tool) throws InterruptedException {
        ToolRun run = ToolRun.start(tool + " -d nope");
        assertThat(run.status()).isEqualTo(7);
        assertThat(run.err()).startsWith("IB device nope not found\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-g", "-C", "-O", "-c DC", "--use_cuda=0", "--rate_limit=5", "--out_json"})
    void unsupportedOptionsAreReported(String words) throws InterruptedException {
        ToolRun run = ToolRun.start("ib_send_lat " + words);
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err()).startsWith("ib_send_lat: the option -").contains("docs/tools/perftest.md");
    }

    @Test
    void unknownOptionsPrintTheUsage() throws InterruptedException {
        ToolRun run = ToolRun.start("ib_send_lat --bogus");
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out()).startsWith("Usage:\n  ib_send_lat            start a server");
        assertThat(run.err()).isEqualTo("""
            ib_send_lat: unrecognized option '--bogus'
             Invalid Command or flag.
             Please check command line and run again.

             Parser function exited with Error
            """);
    }

    @Test
    void unambiguousAbbreviationsAreAccepted() throws ToolFailure {
        assertThat(read(MeasuredOperation.SEND, Measure.LATENCY, "--report-hist").histogram)
                .isTrue();
    }

    @Test
    void versionAndHelpExitWithStatusOneAsInPerftest() throws InterruptedException {
        ToolRun version = ToolRun.start("ib_read_bw -V");
        assertThat(version.status()).isEqualTo(1);
        assertThat(version.out()).isEqualTo("Version: 6.06\n");
        ToolRun help = ToolRun.start("ib_read_bw -h");
        assertThat(help.status()).isEqualTo(1);
        assertThat(help.out()).startsWith("Usage:\n").contains("-o, --outs=<number>");
    }

    @Test
    void theHelpListsTheOptionsOfEachTool() throws InterruptedException {
        ToolRun latency = ToolRun.start("ib_write_lat --help");
        assertThat(latency.status()).isZero();
        assertThat(latency.out())
                .contains(
                        "-H, --report-histogram",
                        "RC, UC or XRC",
                        "-X, --vector=<completion vector>",
                        "--write_with_imm")
                .doesNotContain("-q, --qp", "--use-srq", "-b, --bidirectional");
        ToolRun bandwidth = ToolRun.start("ib_send_bw --help");
        assertThat(bandwidth.status()).isZero();
        assertThat(bandwidth.out())
                .contains("-q, --qp", "RC, UC, UD or XRC", "--report_gbits", "-r, --rx-depth")
                .doesNotContain("--report-histogram");
    }
}
