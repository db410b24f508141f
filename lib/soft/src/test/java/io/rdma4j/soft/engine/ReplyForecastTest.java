package io.rdma4j.soft.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Only an application that replied to its last message is expected to reply to the next one. */
class ReplyForecastTest {
    private final ReplyForecast forecast = new ReplyForecast();

    private boolean receive() {
        forecast.onCycle();
        forecast.onMessage();
        return forecast.mayDefer();
    }

    @Test
    void firstMessageIsNotExpectedToBeAnswered() {
        assertThat(receive()).isFalse();
    }

    @Test
    void applicationThatRepliedIsExpectedToReplyAgain() {
        assertThat(receive()).isFalse();
        forecast.onPost();
        assertThat(receive()).isTrue();
    }

    @Test
    void applicationThatOnlyReceivesIsNotExpectedToReply() {
        for (int i = 0; i < 3; i++) {
            assertThat(receive()).isFalse();
        }
    }

    @Test
    void applicationThatStopsReplyingIsForgotten() {
        assertThat(receive()).isFalse();
        forecast.onPost();
        assertThat(receive()).isTrue();
        assertThat(receive()).isFalse();
    }

    @Test
    void cyclesWithoutAMessageChangeNothing() {
        assertThat(receive()).isFalse();
        forecast.onPost();
        for (int i = 0; i < 3; i++) {
            forecast.onCycle();
            assertThat(forecast.mayDefer())
                    .as("of the acknowledgement of the reply")
                    .isTrue();
        }
        assertThat(receive()).isTrue();
    }
}
