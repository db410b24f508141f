package io.rdma4j.bench.jmh;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/**
 * The library of polling.c, which {@code cc} compiles. It is loaded as libibverbs.so.1 before the real library can be,
 * and has one device, with functions that only touch memory.
 */
final class PollingDriver {
    private static final String NAME = "libibverbs.so.1";
    private static final Path TESTS = Path.of("lib/hardware/src/test/resources/io/rdma4j/hardware/device");

    private final SymbolLookup functions;

    /**
     * Compiles and loads the library.
     *
     * @throws IllegalStateException if there is no compiler, or no header file of libibverbs
     */
    PollingDriver() {
        try {
            Path folder = Files.createTempDirectory("rdma4j-bench");
            Path library = compile(folder);
            functions = load(library);
            Files.delete(library);
            Files.delete(folder);
        } catch (IOException failed) {
            throw new IllegalStateException(
                    "This benchmark compiles a library, which needs cc and the header files of libibverbs. Install gcc and"
                            + " libibverbs-dev",
                    failed);
        }
    }

    @SuppressWarnings("restricted")
    private static SymbolLookup load(Path library) {
        return SymbolLookup.libraryLookup(library, Arena.global());
    }

    private static Path compile(Path folder) throws IOException {
        Path source = folder.resolve("polling.c");
        try (InputStream text = Objects.requireNonNull(PollingDriver.class.getResourceAsStream("polling.c"))) {
            Files.copy(text, source);
        }
        Path library = folder.resolve(NAME);
        String tests =
                Path.of(System.getProperty("rdma4j.home", ".")).resolve(TESTS).toString();
        Process compiler = new ProcessBuilder(List.of(
                        "cc",
                        "-O2",
                        "-shared",
                        "-fPIC",
                        "-Wl,-soname," + NAME,
                        "-I" + tests,
                        "-o",
                        library.toString(),
                        source.toString()))
                .redirectErrorStream(true)
                .start();
        String output = new String(compiler.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        Files.delete(source);
        if (!Files.exists(library)) {
            throw new IOException(output);
        }
        return library;
    }

    /** Opens the device. The method that lists devices which the kernel does not know is not public: this uses private lookup. */
    DeviceContext open() {
        try {
            Class<?> devices = Class.forName("io.rdma4j.hardware.device.HardwareDevices");
            MethodHandle read = MethodHandles.privateLookupIn(devices, MethodHandles.lookup())
                    .unreflect(devices.getDeclaredMethod("read"));
            return ((Device) ((List<?>) read.invoke()).getFirst()).open();
        } catch (Throwable failed) {
            throw new IllegalStateException(failed);
        }
    }

    /** Returns a function of two {@code int}s. */
    @SuppressWarnings("restricted")
    MethodHandle loop(String name) {
        return Linker.nativeLinker()
                .downcallHandle(functions.findOrThrow(name), FunctionDescriptor.ofVoid(JAVA_INT, JAVA_INT));
    }

    /** Returns the functions. */
    SymbolLookup functions() {
        return functions;
    }
}
