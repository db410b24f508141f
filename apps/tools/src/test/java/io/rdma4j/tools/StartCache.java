package io.rdma4j.tools;

import io.rdma4j.fixture.Checkout;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Lets the tools that a test class starts in processes start from an ahead-of-time cache, as with the launcher, which
 * halves the processor time of a start. {@code ToolProcess} takes the jars and the cache from two system properties.
 *
 * <p>The launcher creates the cache, once for the classes under test and all processes of Surefire. Without a cache, as
 * on Windows, tools start from the classes.
 */
public final class StartCache implements BeforeAllCallback {
    private static final Path FOLDER = Checkout.module("tools").resolve("target/start-cache");

    private static boolean isComplete;

    /** Creates the extension. */
    public StartCache() {}

    @Override
    public void beforeAll(ExtensionContext context) throws IOException, InterruptedException {
        if (!OS.WINDOWS.isCurrentOs()) {
            useCache();
        }
    }

    private static synchronized void useCache() throws IOException, InterruptedException {
        if (isComplete) {
            return;
        }
        Files.createDirectories(FOLDER);
        Path lock = FOLDER.resolve("lock");
        try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock _ = channel.lock()) {
            Path build = FOLDER.resolve(String.valueOf(lastChange()));
            Path ready = build.resolve("ready");
            if (!Files.exists(ready)) {
                removeAll(lock);
                PackedTools.pack(build);
                launch(build);
                Files.createFile(ready);
            }
            use(build.resolve("build-test-1"));
        }
        isComplete = true;
    }

    /** Returns the time of the last change of a class under test. */
    private static long lastChange() throws IOException {
        long last = 0;
        for (Path folder : PackedTools.classes()) {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.toList()) {
                    last = Math.max(last, Files.getLastModifiedTime(file).toMillis());
                }
            }
        }
        return last;
    }

    /** Removes the caches of earlier classes, and one that was not completed. */
    private static void removeAll(Path lock) throws IOException {
        try (Stream<Path> files = Files.walk(FOLDER)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                if (!file.equals(lock) && !file.equals(FOLDER)) {
                    Files.delete(file);
                }
            }
        }
    }

    /** Lets the launcher create the cache. */
    private static void launch(Path build) throws IOException, InterruptedException {
        String log = build.resolve("launcher.log").toString();
        ProcessBuilder builder = new ProcessBuilder(
                        "sh", Checkout.ROOT.resolve("rdma4j").toString(), "rping", "--help")
                .redirectErrorStream(true)
                .redirectOutput(Path.of(log).toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("RDMA4J_") || name.contains("JAVA_"));
        builder.environment().put("RDMA4J_JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("RDMA4J_BUILD_DIR", build.toString());
        int status = builder.start().waitFor();
        if (status != 0) {
            throw new AssertionError(
                    "the launcher ended with status " + status + ": " + Files.readString(Path.of(log)));
        }
    }

    private static void use(Path modules) throws IOException {
        try (Stream<Path> files = Files.walk(modules)) {
            Optional<Path> cache =
                    files.filter(file -> file.endsWith("tools.aot")).findFirst();
            if (cache.isPresent() && Files.size(cache.orElseThrow()) > 0) {
                System.setProperty("rdma4j.start.cache", cache.orElseThrow().toString());
                System.setProperty("jdk.module.path", modules.toString());
            }
        }
    }
}
