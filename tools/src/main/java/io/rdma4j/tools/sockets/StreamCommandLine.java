package io.rdma4j.tools.sockets;

import io.rdma4j.tools.CStrings;
import io.rdma4j.tools.Getopt;
import io.rdma4j.tools.ToolEnvironment;
import io.rdma4j.tools.sockets.StreamToolOptions.Format;
import io.rdma4j.tools.sockets.StreamToolOptions.Test;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads the command line of rstream or riostream as C does, oddities included. Used once. */
final class StreamCommandLine {
    private final String tool;
    private final String letters;
    private final Set<Test> known;
    private final ToolEnvironment environment;

    private @Nullable String server;
    private @Nullable String bind;
    private String port = "7471";
    private Format format = Format.NAME;
    private int bufferBytes;
    private int inlineBytes = 64;
    private boolean custom;
    private int iterations = 1;
    private int transfers = 1000;
    private int sizeBytes = 1000;
    private boolean allSizes;
    private int keepAliveSeconds;
    private final EnumSet<Test> tests = EnumSet.noneOf(Test.class);

    /**
     * Prepares reading.
     *
     * @param letters the options, as for getopt(3)
     * @param known what {@code -T} may ask for
     */
    StreamCommandLine(String tool, String letters, Set<Test> known, ToolEnvironment environment) {
        this.tool = tool;
        this.letters = letters;
        this.known = known;
        this.environment = environment;
    }

    /** Reads it; null if it makes no sense, so that the usage is to be printed. */
    @Nullable
    StreamToolOptions read(List<String> arguments) {
        Getopt options = new Getopt(tool, letters, arguments, environment.err());
        for (int letter = options.next(); letter != Getopt.END; letter = options.next()) {
            if (!take(letter, options.argumentOrEmpty())) {
                return null;
            }
        }
        return new StreamToolOptions(
                server,
                bind,
                port,
                format,
                bufferBytes,
                inlineBytes,
                custom,
                iterations,
                transfers,
                sizeBytes,
                allSizes,
                keepAliveSeconds,
                Collections.unmodifiableSet(tests));
    }

    private boolean take(int letter, String value) {
        switch (letter) {
            case 's' -> server = value;
            case 'b' -> bind = value;
            case 'f' -> takeFormat(value);
            case 'B' -> bufferBytes = CStrings.atoi(value);
            case 'i' -> inlineBytes = CStrings.atoi(value);
            case 'I' -> {
                custom = true;
                iterations = CStrings.atoi(value);
            }
            case 'C' -> {
                custom = true;
                transfers = CStrings.atoi(value);
            }
            case 'S' -> takeSize(value);
            case 'p' -> port = value;
            case 'k' -> keepAliveSeconds = CStrings.atoi(value);
            case 'T' -> {
                return takeTest(value);
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private void takeSize(String value) {
        if (beginsWith(value, "all")) {
            allSizes = true;
        } else {
            custom = true;
            sizeBytes = CStrings.atoi(value);
        }
    }

    private void takeFormat(String value) {
        if (beginsWith(value, "ip")) {
            format = Format.IP;
        } else if (beginsWith(value, "gid")) {
            format = Format.GID;
        } else {
            environment.err().println("Warning: unknown address format");
        }
    }

    private boolean takeTest(String value) {
        Test test = Test.of(value);
        if (test == null || !known.contains(test)) {
            return false;
        }
        // The last of these two counts.
        if (test == Test.NONBLOCKING) {
            tests.remove(Test.BLOCKING);
        } else if (test == Test.BLOCKING) {
            tests.remove(Test.NONBLOCKING);
        }
        tests.add(test);
        return true;
    }

    private static boolean beginsWith(String word, String beginning) {
        return word.regionMatches(true, 0, beginning, 0, beginning.length());
    }
}
