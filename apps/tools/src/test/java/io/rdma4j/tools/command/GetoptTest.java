package io.rdma4j.tools.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.command.Getopt.LongOption;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the parser against the output of a C program that calls glibc's getopt. */
class GetoptTest {
    @ParameterizedTest(name = "{0} : {1}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "ab:c::   | -a -b x -c          | a b=x c; ",
                "ab:c::   | -ab x               | a b=x; ",
                "ab:c::   | -abx                | a b=x; ",
                "ab:c::   | -bax                | b=ax; ",
                "ab:c::   | -cx y               | c=x; y",
                "ab:c::   | -c x                | c; x",
                "ab:c::   | -b -a               | b=-a; ",
                "ab:c::   | -b --               | b=--; ",
                "ab:c::   | one -a two -b x 3   | a b=x; one two 3",
                "ab:c::   | one -- -a two       | ; one -a two",
                "ab:c::   | -a -- -a -- two     | a; -a -- two",
                "ab:c::   | - -a -              | a; - -",
                "ab:c::   | -x                  | ?(x: invalid option); ",
                "ab:c::   | -axa                | a ?(x: invalid option) a; ",
                "ab:c::   | -a -b               | a ?(b: option requires an argument); ",
                "ab:c::   | -ab                 | a ?(b: option requires an argument); ",
                "ab:c::   | -:                  | ?(:: invalid option); ",
                "ab:c::   | --a                 | ?(-: invalid option) a; ",
                "ab:c::   | -;                  | ?(;: invalid option); ",
                ":ab:     | -b                  | :(b); ",
                ":ab:     | -x                  | ?(x); ",
                "+ab:     | -a one -b x         | a; one -b x",
                "+ab:     | -a -- -a            | a; -a",
                "a:I:Pp:C:S:t:scvVdq | -vVsC3    | v V s C=3; ",
                "a:I:Pp:C:S:t:scvVdq | -s foo -vV | s v V; foo",
            })
    void splitsLikeGlibc(String specification, String words, String expected) {
        ByteArrayOutputStream messages = new ByteArrayOutputStream();
        Getopt options = new Getopt(
                "prog",
                specification,
                List.of(words.split(" +")),
                new PrintStream(messages, true, StandardCharsets.UTF_8));
        StringBuilder actual = new StringBuilder();
        for (int letter = options.next(); letter != Getopt.END; letter = options.next()) {
            actual.append(actual.isEmpty() ? "" : " ").append((char) letter);
            if (letter == '?' || letter == ':') {
                String message = messages.toString(StandardCharsets.UTF_8).strip();
                messages.reset();
                actual.append('(').append(options.unknownOption());
                if (!message.isEmpty()) {
                    assertThat(message).startsWith("prog: ").endsWith(" -- '" + options.unknownOption() + "'");
                    actual.append(": ").append(message, "prog: ".length(), message.indexOf(" -- '"));
                }
                actual.append(')');
            } else if (options.argument() != null) {
                actual.append('=').append(options.argument());
            }
        }
        actual.append("; ").append(String.join(" ", options.operands()));
        assertThat(actual.toString().strip()).isEqualTo(expected.strip());
    }

    /** Source: glibc, which treats names with the same letter and argument as one option. */
    @Test
    void abbreviationOfOneOptionWithTwoNamesIsUnambiguous() {
        List<LongOption> twice = List.of(
                new LongOption("verbatim", false, 'v'),
                new LongOption("verbose", false, 'v'),
                new LongOption("version", false, 'V'));
        Getopt options = new Getopt("tool", "vV", twice, List.of("--verb", "--ver"), null);
        assertThat(options.next()).isEqualTo('v');
        assertThat(options.next()).isEqualTo('?');
    }
}
