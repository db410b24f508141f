package io.rdma4j.harness;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A process in a guest. Its output is in files there until it has ended; then it is in files of the case, and the files in the
 * guest are removed, since they could be taken for those of the next case.
 */
final class GuestProcess extends RunningProcess {
    private static final Duration KILL_LIMIT = Duration.ofSeconds(5);

    /** The time that a guest may take to report the end of a process. */
    private static final Duration CALL_LIMIT = Duration.ofSeconds(15);

    /** Separates standard output from standard error. */
    private static final char SEPARATOR = 2;

    private final Guest guest;
    private final Duration limit;
    private final Path both;
    private final Path out;
    private final Path err;

    private GuestProcess(String label, String words, Process call, Guest guest, Duration limit, Path folder) {
        super(label, words, call, folder.resolve(label + ".out"), folder.resolve(label + ".err"));
        this.guest = guest;
        this.limit = limit;
        both = folder.resolve(label + ".both");
        out = folder.resolve(label + ".out");
        err = folder.resolve(label + ".err");
    }

    /** Starts a process by {@code timeout}, which ends it after the limit. */
    static GuestProcess start(
            String label, Guest guest, List<String> timeout, Duration limit, List<String> words, Path folder)
            throws IOException {
        String command = Stream.concat(timeout.stream(), words.stream())
                .map(Guest::quoted)
                .collect(Collectors.joining(" "));
        String files = "/tmp/" + label;
        String script = """
                echo $$ >%1$s.pid
                %2$s >%1$s.out 2>%1$s.err
                code=$?; cat %1$s.out; printf '\\002'; cat %1$s.err
                rm -f %1$s.pid %1$s.out %1$s.err; exit $code""".formatted(files, command);
        Path both = folder.resolve(label + ".both");
        Process call = new ProcessBuilder(guest.callWords(script))
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectOutput(both.toFile())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        return new GuestProcess(label, "(in the guest) " + String.join(" ", words), call, guest, limit, folder);
    }

    @Override
    void collect() throws IOException {
        String text = Files.readString(both, StandardCharsets.ISO_8859_1);
        int end = text.indexOf(SEPARATOR);
        Files.writeString(out, end < 0 ? text : text.substring(0, end), StandardCharsets.ISO_8859_1);
        Files.writeString(err, end < 0 ? "" : text.substring(end + 1), StandardCharsets.ISO_8859_1);
        Files.delete(both);
    }

    /** Returns the output so far, for which it asks the guest while the process runs. */
    @Override
    public String out() {
        return status() == null ? live("out") : super.out();
    }

    @Override
    public String err() {
        return status() == null ? live("err") : super.err();
    }

    private String live(String stream) {
        try {
            return hasEnded() ? (stream.equals("out") ? super.out() : super.err()) : remote(stream);
        } catch (IOException e) {
            return "";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "";
        }
    }

    private String remote(String stream) throws IOException, InterruptedException {
        return guest.call("cat /tmp/" + label() + "." + stream + " 2>/dev/null").output();
    }

    @Override
    public void signal(String signal) throws IOException, InterruptedException {
        var _ = guest.call(
                "read -r shell </tmp/%s.pid && pkill -%s -P $(pgrep -P $shell -x timeout)".formatted(label(), signal));
    }

    /** Waits for the process to end. A guest that does not answer any more counts as its end, with the status of the call. */
    @Override
    public int awaitEnd() throws InterruptedException {
        if (!endsWithin(limit.plus(CALL_LIMIT))) {
            kill();
        }
        return super.awaitEnd();
    }

    @Override
    public void end(String signal) throws IOException, InterruptedException {
        if (hasEnded()) {
            return;
        }
        if (!endsWithin(Duration.ofSeconds(1))) {
            signal(signal);
        }
        if (!endsWithin(KILL_LIMIT)) {
            kill(); // the guest does not answer
            super.awaitEnd();
        }
    }
}
