package io.rdma4j.testkit.variant;

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
 * A build of the rooms with some substitutions, loaded beside the build that is running: what changed is compiled into a
 * folder of its own, and everything of this project is loaded anew from there, and from the classes of the rooms where
 * nothing changed. Not thread safe; the simulations that it gives may be run by several threads.
 */
public final class Variant implements AutoCloseable {
    /** A simulation of the variant: does the run of a seed, and throws what it finds. */
    @FunctionalInterface
    public interface Run {
        /**
         * Does one run.
         *
         * @throws Throwable what the simulation throws when something is not as it must be
         */
        void run(long seed) throws Throwable;
    }

    private static final List<String> ROOMS_WITH_NUMBERS = List.of("wire", "transport", "testkit");

    private final URLClassLoader loader;

    private Variant(URLClassLoader loader) {
        this.loader = loader;
    }

    /**
     * Compiles only the sources that the substitutions are in: right where none of them changes a constant or a signature
     * that others were compiled with.
     *
     * @param scratch an empty folder for the classes
     * @throws IOException if a source cannot be read or a class not be written
     * @throws IllegalStateException if a text is not there exactly once, or the result is not Java
     */
    public static Variant ofChanged(List<Substitution> substitutions, Path scratch) throws IOException {
        return make(substitutions, Substitution.files(substitutions), scratch);
    }

    /**
     * Compiles a build in which PSNs have 6 bits and queue pair numbers 5, so that they wrap and collide all the time.
     *
     * @param more substitutions besides
     * @param scratch an empty folder for the classes
     * @throws IOException if a source cannot be read or a class not be written
     * @throws IllegalStateException if a text is not there exactly once, or the result is not Java
     */
    public static Variant ofSmallNumbers(List<Substitution> more, Path scratch) throws IOException {
        Path home = Project.home();
        List<Substitution> substitutions = new ArrayList<>(Mutants.smallNumbers());
        substitutions.addAll(more);
        List<String> files = new ArrayList<>();
        for (String room : ROOMS_WITH_NUMBERS) { // all their sources, since constants are in all classes that use them
            try (Stream<Path> walk = Files.walk(Project.sources(home, room))) {
                walk.filter(path -> path.toString().endsWith(".java"))
                        .filter(path -> !path.endsWith("module-info.java") && !path.endsWith("package-info.java"))
                        .map(path -> home.relativize(path).toString().replace('\\', '/'))
                        .sorted()
                        .forEach(files::add);
            }
        }
        return make(substitutions, files, scratch);
    }

    private static Variant make(List<Substitution> substitutions, List<String> files, Path scratch) throws IOException {
        Path home = Project.home();
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
        for (Path path : Project.classes(home)) {
            urls.add(path.toUri().toURL());
        }
        return new Variant(new Anew(urls.toArray(URL[]::new)));
    }

    /**
     * Loads all classes of this project from its own folders, not those that are running. Leaving them out of the parent's
     * reach would not do: where they are modules, the platform's class loader finds them too.
     */
    private static final class Anew extends URLClassLoader {
        Anew(URL[] urls) {
            super(urls, ClassLoader.getPlatformClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("io.rdma4j.")) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                Class<?> type = loaded == null ? findClass(name) : loaded;
                if (resolve) {
                    resolveClass(type);
                }
                return type;
            }
        }
    }

    /** Annotations of JSpecify say nothing to a machine that runs the classes, and need not be found. */
    private static String withoutNullness(String source) {
        return source.replaceAll("import org\\.jspecify\\.annotations\\.\\w+;", "")
                .replaceAll("@Nullable\\s+", "");
    }

    private static void compile(Path home, List<JavaFileObject> units, Path scratch) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        if (compiler == null) {
            throw new IllegalStateException("this Java has no compiler; run it with a JDK");
        }
        String classPath = Project.classes(home).stream().map(Path::toString).collect(Collectors.joining(":"));
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
     * A simulation of the variant.
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
