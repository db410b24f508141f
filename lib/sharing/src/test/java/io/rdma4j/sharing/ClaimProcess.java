package io.rdma4j.sharing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;

/**
 * A process that claims RDMA ports as commanded by lines {@code claim ADDRESS FAMILY_ONLY REUSE PORT}.
 *
 * <p>{@code free} releases the oldest claim, {@code listen} turns it into a listener's claim, and {@code reuse} allows
 * reuse of its port. {@code race ADDRESS PORT} claims and frees a port until the line {@code end}, and prints how often
 * that failed.
 */
public final class ClaimProcess {
    private static final int CLAIMS_PER_ROUND = 100;

    private ClaimProcess() {}

    /** Runs the process; the argument is the run directory. */
    public static void main(String[] arguments) throws IOException, SharingException {
        RunDirectory directory = RunDirectory.at(Path.of(arguments[0]));
        Slots slot = Slots.claim(directory, new Random());
        PortClaims claims = new PortClaims(directory);
        System.out.println("= slot " + slot.number());
        Deque<PortClaims.Claim> held = new ArrayDeque<>();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ", -1);
            if (words[0].equals("free")) {
                held.removeFirst().close();
                System.out.println("= freed");
                continue;
            }
            if (words[0].equals("race")) {
                System.out.println("= racing");
                System.out.println(
                        "= failed " + race(claims, InetAddress.ofLiteral(words[1]), Integer.parseInt(words[2]), input));
                continue;
            }
            try {
                switch (words[0]) {
                    case "listen" -> held.getFirst().listen();
                    case "reuse" -> held.getFirst().allowReuse();
                    default ->
                        held.add(claims.claim(
                                0x0106,
                                InetAddress.ofLiteral(words[1]),
                                Boolean.parseBoolean(words[2]),
                                Boolean.parseBoolean(words[3]),
                                Integer.parseInt(words[4])));
                }
                System.out.println("= ok");
            } catch (SharingException e) {
                System.out.println("= " + e.reason());
            }
        }
    }

    private static int race(PortClaims claims, InetAddress address, int port, BufferedReader input) throws IOException {
        int failures = 0;
        while (!input.ready()) {
            for (int i = 0; i < CLAIMS_PER_ROUND; i++) {
                try {
                    claims.claim(0x0106, address, true, false, port).close();
                } catch (SharingException e) {
                    failures++;
                }
            }
        }
        String _ = input.readLine();
        return failures;
    }
}
