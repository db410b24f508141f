package io.rdma4j.cm.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;

class RouteAnswersTest {
    private static final InetAddress ETHERNET = InetAddress.ofLiteral("192.0.2.1");
    private static final InetAddress OTHER = InetAddress.ofLiteral("198.51.100.1");
    private static final InetAddress PEER = InetAddress.ofLiteral("192.0.2.9");

    private long now = Long.MAX_VALUE;
    private int questions;
    private InetAddress answer = ETHERNET;
    private final RouteAnswers answers = new RouteAnswers(() -> now);

    private InetAddress find(InetAddress destination) {
        return answers.find(null, destination, () -> {
            questions++;
            return answer;
        });
    }

    @Test
    void answerIsTakenToBeRightForATenthOfASecond() {
        assertThat(find(PEER)).isEqualTo(ETHERNET);
        answer = OTHER;
        now += RouteAnswers.FRESH_NANOS - 1;
        assertThat(find(PEER)).isEqualTo(ETHERNET);
        now++;
        assertThat(find(PEER)).isEqualTo(OTHER);
        assertThat(questions).isEqualTo(2);
    }

    @Test
    void otherQuestionsHaveOtherAnswers() throws UnknownHostException {
        byte[] bytes = InetAddress.ofLiteral("fe80::1").getAddress();
        for (int scope = 1; scope <= 3; scope++) {
            find(Inet6Address.getByAddress(null, bytes, scope));
        }
        find(PEER);
        assertThat(answers.find(OTHER, PEER, () -> OTHER)).isEqualTo(OTHER);
        assertThat(questions).isEqualTo(4);
    }

    @Test
    void whatIsForgottenIsAskedAgain() {
        find(PEER);
        answers.forget();
        find(PEER);
        assertThat(questions).isEqualTo(2);
    }

    @Test
    void missingRouteIsLookedForEachTime() {
        IllegalStateException none = new IllegalStateException("no route");
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> answers.find(null, PEER, () -> {
                        throw none;
                    }))
                    .isSameAs(none);
        }
        assertThat(find(PEER)).isEqualTo(ETHERNET);
    }

    @Test
    void answersDoNotPileUp() throws UnknownHostException {
        for (int i = 0; i < 10 * RouteAnswers.MOST; i++) {
            find(InetAddress.getByAddress(new byte[] {10, 0, (byte) (i >> 8), (byte) i}));
        }
        assertThat(answers.size()).isBetween(1, RouteAnswers.MOST);
    }
}
