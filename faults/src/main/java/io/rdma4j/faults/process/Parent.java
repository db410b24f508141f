package io.rdma4j.faults.process;

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
 * The test, as its child sees it: parameters from the command line, lines to say, lines to hear. Saying is for any
 * thread, hearing for one at a time.
 */
public final class Parent {
    private final ObjectMapper json = new ObjectMapper();
    private final Map<String, String> parameters = new ConcurrentHashMap<>();
    private final PrintStream lines;
    private final BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

    private Parent(String[] words, PrintStream lines) {
        for (String word : words) {
            int equals = word.indexOf('=');
            parameters.put(word.substring(0, equals), word.substring(equals + 1));
        }
        this.lines = lines;
    }

    /** A child's process: {@code Parent CLASS NAME=VALUE…}. */
    public static void main(String[] words) throws ReflectiveOperationException {
        PrintStream lines = System.out;
        System.setOut(System.err);
        Role role = Class.forName(words[0])
                .asSubclass(Role.class)
                .getDeclaredConstructor()
                .newInstance();
        Parent parent = new Parent(Arrays.copyOfRange(words, 1, words.length), lines);
        int status = 0;
        try {
            role.play(parent);
        } catch (Throwable failure) {
            status = 1;
            parent.say("error", failure.toString());
            failure.printStackTrace();
        }
        lines.flush();
        System.exit(status);
    }

    /** A parameter. */
    public String text(String name, String otherwise) {
        return parameters.getOrDefault(name, otherwise);
    }

    /** A parameter. */
    public long number(String name, long otherwise) {
        String value = parameters.get(name);
        return value == null ? otherwise : Long.parseLong(value);
    }

    /** A parameter of numbers joined by commas. */
    public int[] numbers(String name) {
        return Arrays.stream(text(name, "0").split(","))
                .mapToInt(Integer::parseInt)
                .toArray();
    }

    /** Tells the parent something: a number, a text, or a map or list of such. */
    public void say(String key, Object value) {
        try {
            String line = json.writeValueAsString(Map.of(key, value));
            synchronized (lines) {
                lines.println(line);
                lines.flush();
            }
        } catch (IOException e) {
            throw new IllegalStateException("cannot be said: " + value, e);
        }
    }

    /**
     * Waits for the parent's next line; what this process holds is told meanwhile, when the parent asks for that.
     *
     * @throws IOException if the parent is gone
     */
    public String hear() throws IOException {
        while (true) {
            String line = input.readLine();
            if (line == null) {
                throw new IOException("the test is gone");
            }
            if (!line.equals(Child.HOLDINGS)) {
                return line;
            }
            say(Child.HOLDINGS, Holdings.own().toList());
        }
    }
}
