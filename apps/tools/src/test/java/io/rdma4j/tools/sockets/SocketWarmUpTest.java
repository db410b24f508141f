package io.rdma4j.tools.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.command.SingleRound;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.tools.command.WarmUp;
import io.rdma4j.tools.command.WarmUpChoice;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that warm-up rounds of rstream, riostream and udpong succeed with all of the user's options. */
@Timeout(60)
class SocketWarmUpTest {
    private static final int FIRST_WORK = 16;

    private static WarmUp.Round round(String line) throws ToolFailure {
        List<String> words = List.of((line + " -s no.such.host.invalid -b 192.0.2.1 -p 1").split(" "));
        List<String> arguments = words.subList(1, words.size());
        ToolEnvironment environment = new ToolEnvironment(System.out, System.err);
        if (words.getFirst().equals("udpong")) {
            return Udpong.round(new UdpongCommandLine(environment).read(arguments));
        }
        StreamToolOptions options = new StreamCommandLine(
                        words.getFirst(),
                        StreamCommandLine.RSTREAM,
                        EnumSet.allOf(StreamToolOptions.Test.class),
                        environment)
                .read(arguments);
        return words.getFirst().equals("rstream") ? new Rstream().round(options) : new Riostream().round(options);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rstream",
                "rstream -T n",
                "rstream -T b",
                "rstream -T a",
                "rstream -T a -T b",
                "rstream -T v",
                "rstream -T r",
                "rstream -T s",
                "rstream -T s -T b",
                "rstream -T s -T a -T v",
                "rstream -f gid",
                "rstream -k 9",
                "rstream -i 0",
                "rstream -B 5000",
                "rstream -B 2147483647",
                "rstream -S all",
                "rstream -S 4096 -C 100 -I 2",
                "rstream -S 4096 -C 1 -I 1000000000",
                "rstream -S 2147483647 -C 1000000000",
                "riostream",
                "riostream -T n",
                "riostream -T b",
                "riostream -T a",
                "riostream -T a -T b",
                "riostream -T v",
                "riostream -i 0",
                "riostream -B 5000",
                "riostream -B 2147483647",
                "riostream -S all",
                "riostream -S 4096 -C 100 -I 2",
                "riostream -S 4096 -C 1 -I 1000000000",
                "riostream -S 2147483647 -C 1000000000",
                "udpong",
                "udpong -T b",
                "udpong -T a",
                "udpong -T e",
                "udpong -T s",
                "udpong -T s -T b",
                "udpong -T s -T a -T e",
                "udpong -B 5000",
                "udpong -B 2147483647",
                "udpong -S 2000 -C 1000000000"
            })
    void aRoundSucceedsWithTheOptionsOfTheUser(String line) throws Exception {
        SingleRound.requireSuccess(round(line), FIRST_WORK);
    }

    @ParameterizedTest
    @ValueSource(strings = {"rstream -S -1", "riostream -S -1"})
    void aSizeThatTheToolRefusesEndsTheWarmUp(String line) throws ToolFailure {
        ToolEnvironment environment = new ToolEnvironment(System.out, System.err);
        environment.warmUp(WarmUpChoice.IF_MEASURING);
        WarmUp.perform("rstream", round(line), environment);
        assertThat(environment.report().json("rstream", List.of(), Map.of(), 0, null))
                .contains("warmUpSeconds");
    }

    /** The user's client may connect at any time, even while the client of the warm-up cannot reach its server. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "rstream",
                "rstream -T b",
                "rstream -T a",
                "rstream -T s",
                "rstream -T s -T b",
                "riostream",
                "udpong",
                "udpong -T s -T b"
            })
    void aServerEndsItsWarmUpAtAnyTime(String line) throws Exception {
        ToolEnvironment environment = new ToolEnvironment(System.out, System.err);
        environment.warmUp(WarmUpChoice.IF_MEASURING);
        for (int i = 0; i < 10; i++) {
            try (WarmUp running = WarmUp.start(round(line), environment)) {
                Thread.sleep(i); // another time in each round
                assertThat(running).isNotSameAs(WarmUp.NONE);
            }
        }
    }
}
