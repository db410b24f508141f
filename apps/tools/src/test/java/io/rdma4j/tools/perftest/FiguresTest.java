package io.rdma4j.tools.perftest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the computation of the tables' figures. */
class FiguresTest {
    private static final double TINY = 1e-9;

    /** Returns times of posts with gaps of 1, 2, 3 … microseconds, in unsorted order. */
    private static long[] posts(int count) {
        long[] posts = new long[count];
        for (int i = 1; i < count; i++) {
            long gap = i % 2 == 0 ? i : count - 1 - i + (count - 1) % 2;
            posts[i] = posts[i - 1] + 1000L * gap;
        }
        return posts;
    }

    private static LatencyFigures figures(long[] postedNanos, int directions) {
        return LatencyFigures.of(LatencyFigures.samples(postedNanos, directions));
    }

    private static Settings settings() {
        return new Settings(MeasuredOperation.WRITE, Measure.BANDWIDTH);
    }

    @Test
    void theTwoLongestLatenciesAreExcluded() {
        long[] posts = {0, 5_000, 6_000, 8_000, 108_000, 111_000, 311_000, 315_000};
        LatencyFigures figures = figures(posts, 1); // 5 1 2 100 3 200 4
        assertThat(figures.iterations()).isEqualTo(8);
        assertThat(figures.minimum()).isEqualTo(1);
        assertThat(figures.maximum()).isEqualTo(100);
        assertThat(figures.typical()).isEqualTo(3);
        assertThat(figures.average()).isEqualTo(3);
        assertThat(figures.deviation()).isCloseTo(Math.sqrt(2), within(TINY));
        assertThat(LatencyFigures.samples(posts, 1)).containsExactly(5, 1, 2, 100, 3, 200, 4);
    }

    @Test
    void latencyOfMessagesIsHalfOfAnExchange() {
        long[] posts = {0, 2_000, 4_000, 6_000, 9_000, 12_000};
        assertThat(figures(posts, 2).average()).isEqualTo(1);
        assertThat(figures(posts, 1).average()).isEqualTo(2);
    }

    @Test
    void theMedianOfAnEvenNumberIsTheMeanOfTheMiddleTwo() {
        long[] posts = {0, 1_000, 3_000, 6_000, 10_000, 30_000, 60_000}; // 1 2 3 4 and the tail
        assertThat(figures(posts, 1).typical()).isEqualTo(2.5);
    }

    @Test
    void percentilesMatchPerftest() {
        LatencyFigures figures = figures(posts(1003), 1);
        double[] sorted = LatencyFigures.samples(posts(1003), 1);
        Arrays.sort(sorted);
        assertThat(figures.percentile99()).isEqualTo(sorted[990]);
        assertThat(figures.percentile999()).isEqualTo(sorted[999]);
        assertThat(figures.maximum()).isEqualTo(sorted[1000]);
    }

    @Test
    void theMinimumOfIterationsHasPercentiles() {
        assertThat(figures(new long[] {0, 1, 2, 3, 4}, 1).percentile999()).isPositive();
    }

    @Test
    void bandwidthIsInMebibytesOrGigabits() {
        BandwidthSamples samples = new BandwidthSamples(0);
        samples.begin(500);
        samples.end(2_000_000_500L, 1000);
        Settings settings = settings();
        BandwidthFigures figures = BandwidthFigures.of(samples, settings, 1 << 20, 1);
        assertThat(figures.average()).isCloseTo(500, within(TINY));
        assertThat(figures.messageRate()).isCloseTo(0.0005, within(TINY));
        assertThat(figures.peak()).isZero();
        settings.gigabits = true;
        assertThat(BandwidthFigures.of(samples, settings, 125_000_000, 1).average())
                .isCloseTo(500, within(TINY));
    }

    @Test
    void thePeakComesFromTheFastestInterval() {
        BandwidthSamples samples = new BandwidthSamples(4);
        samples.begin(0);
        long[] posted = {0, 10, 5_000, 5_010};
        long[] done = {4_000, 4_900, 6_000, 6_100};
        for (int i = 0; i < 4; i++) {
            samples.onPost(i, posted[i]);
            samples.onDone(i + 1, done[i]);
        }
        samples.end(6_100, 4);
        // From the third post to the last completion two messages took 1100 ns.
        assertThat(samples.shortestNanos(1, 1)).isEqualTo(550);
        assertThat(samples.elapsedNanos()).isEqualTo(6_100);
    }

    @Test
    void thePeakSupportsCompletionsOfSeveralMessages() {
        BandwidthSamples samples = new BandwidthSamples(5);
        samples.begin(0);
        for (int i = 0; i < 5; i++) {
            samples.onPost(i, 0);
        }
        samples.onDone(2, 300);
        samples.onDone(4, 500);
        samples.onDone(7, 900); // a completion that covers more messages than there are
        assertThat(samples.shortestNanos(1, 2)).isEqualTo(125);
    }

    /** Searches like perftest, which compares every post with every later completion. */
    private static double shortest(long[] posted, long[] done, int postList, int moderation) {
        double shortest = Double.MAX_VALUE;
        for (int from = 0; from < posted.length; from += postList) {
            for (int to = from; to < done.length; to++) {
                boolean completes = (to + 1) % moderation == 0 || to == done.length - 1;
                if (completes && posted[from] > 0 && done[to] > posted[from]) {
                    shortest = Math.min(shortest, (done[to] - posted[from]) / (double) (to - from + 1));
                }
            }
        }
        return shortest == Double.MAX_VALUE ? 0 : shortest;
    }

    @Test
    void thePeakEqualsTheResultOfAnExhaustiveSearch() {
        long seed = Long.getLong("rdma4j.seed", System.nanoTime());
        Random random = new Random(seed);
        for (int round = 0; round < 2000; round++) {
            int count = 1 + random.nextInt(40);
            int postList = 1 + random.nextInt(4);
            int moderation = 1 + random.nextInt(5);
            long[] posted = new long[count];
            long[] done = new long[count];
            BandwidthSamples samples = new BandwidthSamples(count);
            samples.begin(0);
            long now = 0;
            for (int i = 0; i < count; i++) {
                now += random.nextInt(round % 2 == 0 ? 3 : 2000); // many at the same time, or few
                if (i % postList == 0) {
                    samples.onPost(i, now);
                    posted[i] = now + 1;
                }
            }
            now = random.nextBoolean() ? now : posted[0];
            for (int i = 0; i < count; i++) {
                now = Math.max(now + random.nextInt(round % 3 == 0 ? 2 : 500), posted[i]);
                if (((i + 1) % moderation == 0 || i == count - 1) && random.nextInt(10) > 0) {
                    samples.onDone(i + 1, now);
                    done[i] = now + 1;
                }
            }
            assertThat(samples.shortestNanos(postList, moderation))
                    .as("seed " + seed + ", round " + round)
                    .isCloseTo(shortest(posted, done, postList, moderation), withinPercentage(1e-9));
        }
    }

    /** A search through all pairs of this number would take hours. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void thePeakOfMillionsOfMessagesIsFound() {
        int count = 4_000_000;
        BandwidthSamples samples = new BandwidthSamples(count);
        samples.begin(0);
        for (int i = 0; i < count; i++) {
            // The second half is twice as fast as the first, and a thousand messages are always outstanding.
            long half = count / 2;
            long posted = i < half ? 100L * i : 100L * half + 50 * (i - half);
            samples.onPost(i, posted);
            samples.onDone(i + 1, posted + 50_000);
        }
        double fastestNanos = (50L * (count / 2 - 1) + 50_000) / (count / 2.0);
        assertThat(samples.shortestNanos(1, 1)).isCloseTo(fastestNanos, withinPercentage(0.001));
    }

    @Test
    void operationsThatAlsoRepresentThePeersCountTwice() {
        BandwidthSamples samples = new BandwidthSamples(2);
        samples.begin(0);
        samples.onPost(0, 0);
        samples.onPost(1, 0);
        samples.onDone(2, 1_000_000);
        samples.end(2_000_000, 2);
        Settings settings = settings();
        settings.moderation = 2;
        BandwidthFigures one = BandwidthFigures.of(samples, settings, 1 << 20, 1);
        BandwidthFigures two = BandwidthFigures.of(samples, settings, 1 << 20, 2);
        assertThat(one.messageRate()).isCloseTo(0.001, within(TINY));
        assertThat(one.average()).isCloseTo(1000, within(TINY));
        assertThat(one.peak()).isCloseTo(2000, within(TINY));
        assertThat(two.messageRate()).isCloseTo(0.002, within(TINY));
        assertThat(two.average()).isCloseTo(2000, within(TINY));
        assertThat(two.peak()).isCloseTo(4000, within(TINY));
        assertThat(two.iterations()).isEqualTo(one.iterations()).isEqualTo(2);
    }

    @Test
    void bothDirectionsAddUp() {
        BandwidthFigures sum = new BandwidthFigures(64, 100, 10, 5, 1).plus(new BandwidthFigures(64, 100, 8, 4, 2));
        assertThat(sum).isEqualTo(new BandwidthFigures(64, 100, 18, 9, 3));
    }

    @Test
    void allSizesArePowersOfTwoUpToTheLargest() {
        Settings settings = settings();
        settings.allSizes = true;
        settings.sizeBytes = 1024;
        assertThat(Sizes.of(settings)).containsExactly(2, 4, 8, 16, 32, 64, 128, 256, 512, 1024);
        settings.sizeBytes = Settings.LARGEST_BYTES;
        assertThat(Sizes.of(settings)).hasSize(23).endsWith(8 << 20);
    }
}
