package io.rdma4j.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Runs the targets without Jazzer: with their seeds, with earlier findings, and with random changes of these. {@code
 * -Drdma4j.seed=N} repeats a run.
 */
class KnownTargetTest {
    private static final int CHANGES = 2_000;

    @ParameterizedTest
    @EnumSource
    void invariantsHoldForEverySeed(KnownTarget target) {
        List<byte[]> seeds = target.create().seeds().toList();
        assertThat(seeds).isNotEmpty();
        seeds.forEach(seed -> run(target, seed));
    }

    /** Files {@code findings/F1/NAME} are inputs that once violated an invariant. */
    @ParameterizedTest
    @EnumSource
    void invariantsHoldForEarlierFindings(KnownTarget target) {
        findings(target).forEach(finding -> run(target, finding));
    }

    @ParameterizedTest
    @EnumSource
    void invariantsHoldForRandomlyChangedSeeds(KnownTarget target) {
        long seed = Long.getLong("rdma4j.seed", System.nanoTime());
        System.out.println(target + " -Drdma4j.seed=" + seed);
        Random random = new Random(seed);
        List<byte[]> seeds =
                Stream.concat(target.create().seeds(), findings(target)).toList();
        for (int i = 0; i < CHANGES; i++) {
            run(target, changed(random, seeds));
        }
    }

    private static void run(KnownTarget target, byte[] input) {
        try {
            new BoundedMemory(target.create()).run(input);
        } catch (Throwable finding) {
            throw new AssertionError(target + " of " + HexFormat.of().formatHex(input), finding);
        }
    }

    /** Returns a part of one seed followed by a part of another, with some bytes changed. */
    private static byte[] changed(Random random, List<byte[]> seeds) {
        byte[] first = seeds.get(random.nextInt(seeds.size()));
        byte[] second = seeds.get(random.nextInt(seeds.size()));
        int end = random.nextInt(first.length + 1);
        int begin = random.nextInt(second.length + 1);
        byte[] input = Arrays.copyOf(first, Math.min(4096, end + second.length - begin));
        System.arraycopy(second, begin, input, Math.min(end, input.length), Math.max(0, input.length - end));
        for (int i = random.nextInt(6); i > 0 && input.length > 0; i--) {
            input[random.nextInt(input.length)] = (byte) random.nextInt();
        }
        return input;
    }

    private static Stream<byte[]> findings(KnownTarget target) {
        URL folder = KnownTargetTest.class.getResource("/findings/" + target);
        if (folder == null) {
            return Stream.of();
        }
        try (Stream<Path> files = Files.list(Path.of(uri(folder)))) {
            return files.sorted().map(KnownTargetTest::read).toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static URI uri(URL url) {
        try {
            return url.toURI();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static byte[] read(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
