package io.rdma4j.exec.bridge;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Tests that Java and {@code bridge.h} have the same operations and classes. */
class OperationTest {
    private static final Pattern ENUMERATOR = Pattern.compile("^\\s*BRIDGE_(\\w+) = (\\d+),", Pattern.MULTILINE);
    private static final Pattern CLASS = Pattern.compile("#define BRIDGE_\\w+_CLASS \"([\\w/]+)\"");
    private static final Path HEADER = Path.of("native/bridge.h");

    @Test
    void numbersMatchTheHeader() throws Exception {
        Map<String, Integer> numbers = new TreeMap<>();
        for (Field field : Operation.class.getDeclaredFields()) {
            numbers.put(field.getName(), field.getInt(null));
        }
        assertThat(numbers).isEqualTo(enumerators());
    }

    private static Map<String, Integer> enumerators() throws IOException {
        Map<String, Integer> numbers = new TreeMap<>();
        Matcher matcher = ENUMERATOR.matcher(Files.readString(HEADER));
        while (matcher.find()) {
            numbers.put(matcher.group(1), Integer.valueOf(matcher.group(2)));
        }
        return numbers;
    }

    @Test
    void classesOfTheHeaderExist() throws Exception {
        Matcher matcher = CLASS.matcher(Files.readString(HEADER));
        int count = 0;
        while (matcher.find()) {
            assertThat(Class.forName(
                            matcher.group(1).replace('/', '.'),
                            false,
                            getClass().getClassLoader()))
                    .isNotNull();
            count++;
        }
        assertThat(count).isEqualTo(4);
    }
}
