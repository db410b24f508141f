package io.rdma4j.sockets;

import java.io.File;
import java.net.URI;
import java.net.URL;
import java.nio.file.Path;
import java.util.Objects;

/** The classes under test as one class path, for another Java process. */
public final class TestClassPath {
    private TestClassPath() {}

    /**
     * Returns the class path of the modules and of the tests. The modules may be on the class path or on the module
     * path of this process; Maven patches the tests into their module.
     */
    public static String of(Class<?> test) {
        return String.join(
                File.pathSeparator,
                folder(test),
                System.getProperty("jdk.module.path", ""),
                System.getProperty("java.class.path"));
    }

    private static String folder(Class<?> type) {
        String name = type.getName().replace('.', '/') + ".class";
        URL url = Objects.requireNonNull(type.getResource("/" + name), name);
        String text = url.toString();
        return Path.of(URI.create(text.substring(0, text.length() - name.length())))
                .toString();
    }
}
