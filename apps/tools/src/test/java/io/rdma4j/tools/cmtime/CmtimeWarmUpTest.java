package io.rdma4j.tools.cmtime;

import io.rdma4j.tools.command.SingleRound;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.tools.command.WarmUp;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that a round of cmtime's warm-up succeeds with any options of the user. */
@Timeout(60)
class CmtimeWarmUpTest {
    private static final int FIRST_WORK = 16;

    private static WarmUp.Round round(String options) throws ToolFailure {
        CmtimeCommandLine commandLine = new CmtimeCommandLine(new ToolEnvironment(System.out, System.err));
        List<String> words = List.of((options + " -b 127.0.0.1 -p 1").strip().split(" "));
        if (words.getFirst().equals("--classic")) {
            return Cmtime.round(commandLine.readClassic(words.subList(1, words.size())));
        }
        return Cmtime.round(commandLine.read(words));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-C 192.0.2.1",
                "-C 192.0.2.1 -c 1",
                "-C 192.0.2.1 -c 100000 -n 4",
                "-C no.such.host.invalid -P 100",
                "-C 192.0.2.1 -m 10 -q 5",
                "-C 192.0.2.1 -S",
                "-C 192.0.2.1 -r 0 -t 1",
                "--classic -c 100000",
                "--classic -s no.such.host.invalid -r 0"
            })
    void aRoundSucceedsWithTheOptionsOfTheUser(String options) throws Exception {
        SingleRound.requireSuccess(round(options), FIRST_WORK);
    }
}
