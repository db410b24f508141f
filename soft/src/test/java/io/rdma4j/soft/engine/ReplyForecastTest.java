package io.rdma4j.soft.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ReplyForecastTest {
    private final ReplyForecast forecast = new ReplyForecast();

    @Test
    void firstMessageIsNotExpectedToBeAnswered() {
        assertThat(forecast.mayDefer()).isFalse();
    }

    @Test
    void applicationThatRepliedIsExpectedToReplyAgain() {
        assertThat(forecast.mayDefer()).isFalse();
        forecast.onPost();
        forecast.onCycle();
        forecast.onCycle();
        assertThat(forecast.mayDefer()).isTrue();
    }

    @Test
    void applicationThatOnlyReceivesIsNotExpectedToReply() {
        for (int i = 0; i < 3; i++) {
            assertThat(forecast.mayDefer()).isFalse();
            forecast.onCycle();
        }
    }

    @Test
    void applicationThatDoesNotReplyAnyMoreIsForgotten() {
        assertThat(forecast.mayDefer()).isFalse();
        forecast.onPost();
        forecast.onCycle();
        assertThat(forecast.mayDefer()).isTrue();
        forecast.onCycle();
        assertThat(forecast.mayDefer()).isFalse();
    }
}
