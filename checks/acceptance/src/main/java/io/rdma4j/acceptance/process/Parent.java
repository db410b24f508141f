package io.rdma4j.acceptance.process;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The test, as seen by its child: parameters from the command line, commands to receive and values to report. Any
 * thread may report; only one thread at a time may receive commands.
 */
public final class Parent {
    private final ObjectMapper json = new ObjectMapper();
    private final Map<String, String> parameters = new ConcurrentHashMap<>();
    private final PrintStream lines;
    private final BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

    private Parent(String[] arguments, PrintStream lines) {
        for (String argument : arguments) {
            int equals = argument.indexOf('=');
            parameters.put(argument.substring(0, equals), argument.substring(equals + 1));
        }
        this.lines = lines;
    }

    /** Runs a child process: {@code Parent CLASS NAME=VALUE…}. */
    public static void main(String[] arguments) throws ReflectiveOperationException {
        PrintStream lines = System.out;
        System.setOut(System.err);
        Role role = Class.forName(arguments[0])
                .asSubclass(Role.class)
                .getDeclaredConstructor()
                .newInstance();
        Parent parent = new Parent(Arrays.copyOfRange(arguments, 1, arguments.length), lines);
        int status = 0;
        try {
            role.run(parent);
        } catch (Throwable failure) {
            status = 1;
            parent.report("error", failure.toString());
            failure.printStackTrace();
        }
        lines.flush();
        System.exit(status);
    }

    /** Returns a parameter, or {@code otherwise} if it is not set. */
    public String text(String name, String otherwise) {
        return parameters.getOrDefault(name, otherwise);
    }

    /** Returns a numeric parameter, or {@code otherwise} if it is not set. */
    public long number(String name, long otherwise) {
        String value = parameters.get(name);
        return value == null ? otherwise : Long.parseLong(value);
    }

    /** Returns a parameter that is a comma-separated list of numbers. */
    public int[] numbers(String name) {
        return Arrays.stream(text(name, "0").split(","))
                .mapToInt(Integer::parseInt)
                .toArray();
    }

    /** Reports a value to the parent: a number, a text, or a map or list of these. */
    public void report(String key, Object value) {
        try {
            String line = json.writeValueAsString(Map.of(key, value));
            synchronized (lines) {
                lines.println(line);
                lines.flush();
            }
        } catch (IOException e) {
            throw new IllegalStateException("cannot be reported: " + value, e);
        }
    }

    /**
     * Waits for the next command of the parent. Requests for the resource usage are answered meanwhile.
     *
     * @throws IOException if the parent has exited
     */
    public String nextCommand() throws IOException {
        while (true) {
            String line = input.readLine();
            if (line == null) {
                throw new IOException("the test has exited");
            }
            if (!line.equals(Child.RESOURCE_USAGE)) {
                return line;
            }
            report(Child.RESOURCE_USAGE, ResourceUsage.ofThisProcess().toList());
        }
    }
}
