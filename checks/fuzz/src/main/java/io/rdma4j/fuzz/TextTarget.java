package io.rdma4j.fuzz;

import io.rdma4j.link.decorator.FaultSpec;
import io.rdma4j.sockets.options.AddressRules;
import io.rdma4j.soft.options.SecurityOptions;
import io.rdma4j.tools.cmtime.OutOfBandRecords;
import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.Getopt;
import io.rdma4j.tools.pingpong.OutOfBandTexts;
import io.rdma4j.tools.sim.CommandLines;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * F8: command lines, options and the texts that tools exchange. The first byte of the input selects the parser of the
 * rest.
 *
 * <p>Every text is parsed, or refused with the documented exception and a message. A parsed text that is written again
 * is parsed to an equal value.
 */
public final class TextTarget implements FuzzTarget {
    private static final PrintStream DISCARD =
            new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
    private static final List<Getopt.LongOption> LONG_OPTIONS = List.of(
            new Getopt.LongOption("seed", true, 's'),
            new Getopt.LongOption("seeds", false, 'S'),
            new Getopt.LongOption("quiet", false, 'q'));
    private static final int MAX_OPTIONS_PER_CHARACTER = 1;

    /**
     * The last argument contains the rest of the text. Jazzer's hooks allocate 7 KB per argument, which would be
     * attributed to the input.
     */
    private static final int MAX_ARGUMENTS = 256;

    /** Creates the target. */
    public TextTarget() {}

    @Override
    public void run(byte[] input) {
        Script script = new Script(input);
        int parser = script.choice(8);
        byte[] bytes = script.rest();
        String text = new String(bytes, StandardCharsets.UTF_8);
        List<String> arguments = List.of(text.split("\0", MAX_ARGUMENTS));
        switch (parser) {
            case 0 -> parsesOrExplains(SecurityOptions::parse, text);
            case 1 -> parsesOrExplains(FaultSpec::parse, text);
            case 2 -> parsesOrExplains(AddressRules::parse, text);
            case 3 -> common(arguments);
            case 4 -> options(arguments);
            case 5 -> OutOfBandTexts.check(text);
            case 6 -> OutOfBandRecords.check(bytes);
            default -> CommandLines.check(arguments, DISCARD);
        }
    }

    private static void parsesOrExplains(Function<String, Object> parser, String text) {
        try {
            Object parsed = parser.apply(text);
            Invariant.holds(parsed.equals(parser.apply(text)), "the same text is parsed to an equal value");
        } catch (NumberFormatException e) {
            throw new AssertionError("an invalid number causes a NumberFormatException", e);
        } catch (IllegalArgumentException refused) {
            Invariant.holds(String.valueOf(refused.getMessage()).length() > 10, "a refusal has a message");
        }
    }

    private static void common(List<String> arguments) {
        try {
            CommonOptions options = CommonOptions.parse(arguments);
            Invariant.atMost(options.arguments().size(), arguments.size(), "arguments left for the tool");
        } catch (CommonOptions.UsageException refused) {
            Invariant.holds(String.valueOf(refused.getMessage()).length() > 10, "a refusal has a message");
        }
    }

    private static void options(List<String> arguments) {
        long characters =
                arguments.stream().mapToLong(argument -> argument.length() + 1L).sum();
        for (String letters : List.of("a:b::c", "+:a:b", ":xy:")) {
            Getopt getopt = new Getopt("fuzz", letters, LONG_OPTIONS, arguments, DISCARD);
            for (int count = 0; getopt.next() != Getopt.END; count++) {
                Invariant.atMost(count, MAX_OPTIONS_PER_CHARACTER * characters, "options of a command line");
            }
            Invariant.atMost(getopt.operands().size(), arguments.size(), "operands");
        }
    }

    @Override
    public Stream<byte[]> seeds() {
        return Stream.of(
                seed(0, "source-port=enforce,request-rate=100,half-open=10,violations=all,foreign-requests=drop"),
                seed(1, "loss=1%,dup=0.01,reorder=5%,corrupt=1e-3,delay=5.5ms,seed=-7"),
                seed(2, "10.1.0.0/16=rdma,fe80::1%1/64=tcp,127.0.0.1=tcp,*=either"),
                seed(3, "--pcap\0/tmp/x\0--fault=loss=1%\0--trace\0-v\0--\0--json"),
                seed(4, "-a1\0-bcc\0--se=5\0--quiet\0x\0--\0-y"),
                seed(5, "0000:00002c:ffffff:fe80000000000000505400fffe880001"),
                seed(5, "0000:00002c:00002d:ffffff:000003:fe80000000000000505400fffe880001"),
                OutOfBandRecords.seed(),
                seed(7, "--seed\0-7\0--runs=100\0-j\0" + "2"));
    }

    private static byte[] seed(int parser, String text) {
        return new ScriptWriter()
                .u8(parser)
                .rest(text.getBytes(StandardCharsets.UTF_8))
                .bytes();
    }
}
