package io.rdma4j.acceptance.variants;

import io.rdma4j.fixture.Checkout;
import java.io.IOException;
import java.io.StringWriter;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * A build of the modules with substitutions in the source, loaded beside the running build.
 *
 * <p>The changed sources are compiled into a separate folder. A class loader loads all classes of this project again:
 * from that folder, or, if unchanged, from the modules' class folders. Not thread safe, but several threads may run the
 * simulations that it returns.
 */
public final class Variant implements AutoCloseable {
    /** A simulation of the variant. */
    @FunctionalInterface
    public interface Run {
        /**
         * Runs the simulation with a seed.
         *
         * @throws Throwable the failure of the simulation
         */
        void run(long seed) throws Throwable;
    }

    /** The modules whose classes a simulation uses. */
    private static final List<String> MODULES = List.of(
            "lib/wire",
            "lib/transport",
            "lib/link",
            "lib/verbs",
            "lib/cm",
            "lib/sharing",
            "lib/soft",
            "lib/sockets",
            "apps/simulator");

    private static final List<String> MODULES_WITH_NUMBERS = List.of("lib/wire", "lib/transport", "apps/simulator");

    private final URLClassLoader loader;

    private Variant(URLClassLoader loader) {
        this.loader = loader;
    }

    /**
     * Builds a variant by compiling only the sources with substitutions.
     *
     * <p>This is correct only if no substitution changes a constant or a signature that other classes were compiled
     * with.
     *
     * @param scratch an empty folder for the classes
     * @throws IOException if a source cannot be read or a class cannot be written
     * @throws IllegalStateException if a text does not occur exactly once, or the result does not compile
     */
    public static Variant ofChanged(List<Substitution> substitutions, Path scratch) throws IOException {
        return build(substitutions, Substitution.files(substitutions), scratch);
    }

    /**
     * Builds a variant in which PSNs have 6 bits and queue pair numbers 5, so that they wrap and collide often.
     *
     * @param more additional substitutions
     * @param scratch an empty folder for the classes
     * @throws IOException if a source cannot be read or a class cannot be written
     * @throws IllegalStateException if a text does not occur exactly once, or the result does not compile
     */
    public static Variant ofSmallNumbers(List<Substitution> more, Path scratch) throws IOException {
        Path home = home();
        List<Substitution> substitutions = new ArrayList<>(Mutants.smallNumbers());
        substitutions.addAll(more);
        List<String> files = new ArrayList<>();
        for (String module :
                MODULES_WITH_NUMBERS) { // all sources, since constants are inlined into the classes that use them
            try (Stream<Path> walk = Files.walk(home.resolve(module).resolve("src/main/java"))) {
                walk.filter(path -> path.toString().endsWith(".java"))
                        .filter(path -> !path.endsWith("module-info.java") && !path.endsWith("package-info.java"))
                        .map(path -> home.relativize(path).toString().replace('\\', '/'))
                        .sorted()
                        .forEach(files::add);
            }
        }
        return build(substitutions, files, scratch);
    }

    /** Returns the project's folder, with its sources and classes. */
    static Path home() {
        String named = System.getProperty("rdma4j.home");
        return named == null ? Checkout.ROOT : Path.of(named);
    }

    private static List<Path> classes(Path home) {
        return MODULES.stream()
                .map(module -> home.resolve(module).resolve("target/classes"))
                .toList();
    }

    private static Variant build(List<Substitution> substitutions, List<String> files, Path scratch)
            throws IOException {
        Path home = home();
        Map<String, List<Substitution>> byFile = substitutions.stream()
                .collect(Collectors.groupingBy(Substitution::file, HashMap::new, Collectors.toList()));
        List<JavaFileObject> units = new ArrayList<>();
        for (String file : files) {
            String source = Files.readString(home.resolve(file));
            for (Substitution each : byFile.getOrDefault(file, List.of())) {
                source = each.apply(source);
            }
            units.add(new Source(file, withoutNullness(source)));
        }
        if (!units.isEmpty()) {
            compile(home, units, scratch);
        }
        List<URL> urls = new ArrayList<>();
        urls.add(scratch.toUri().toURL());
        for (Path path : classes(home)) {
            urls.add(path.toUri().toURL());
        }
        // The parent has no classes of this project.
        return new Variant(new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader()));
    }

    /** Removes the JSpecify annotations, which have no effect at run time and may not be on the class path. */
    private static String withoutNullness(String source) {
        return source.replaceAll("import org\\.jspecify\\.annotations\\.\\w+;", "")
                .replaceAll("@Nullable\\s+", "");
    }

    private static void compile(Path home, List<JavaFileObject> units, Path scratch) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        if (compiler == null) {
            throw new IllegalStateException("this Java has no compiler; run it with a JDK");
        }
        String classPath = classes(home).stream().map(Path::toString).collect(Collectors.joining(":"));
        StringWriter messages = new StringWriter();
        List<String> options = List.of(
                "-proc:none",
                "-nowarn",
                "-Xlint:none",
                "-implicit:none",
                "-g",
                "-d",
                Files.createDirectories(scratch).toString(),
                "-cp",
                classPath);
        if (!compiler.getTask(messages, null, null, options, null, units).call()) {
            throw new IllegalStateException("the variant does not compile:\n" + messages);
        }
    }

    /** A source in memory. */
    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String file, String text) {
            super(URI.create("string:///" + file), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }

    /**
     * Returns a simulation of the variant.
     *
     * @param className a class with a public static method {@code run(long)}
     * @throws ReflectiveOperationException if there is no such class or method
     */
    public Run simulation(String className) throws ReflectiveOperationException {
        Class<?> type = load(className);
        Method method = type.getMethod("run", long.class);
        MethodHandle handle = MethodHandles.publicLookup().unreflect(method);
        return seed -> handle.invokeWithArguments(seed);
    }

    Class<?> load(String className) throws ClassNotFoundException {
        return Class.forName(className, true, loader);
    }

    @Override
    public void close() throws IOException {
        loader.close();
    }
}
