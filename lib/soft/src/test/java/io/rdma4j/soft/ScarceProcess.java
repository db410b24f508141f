package io.rdma4j.soft;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import java.io.FileInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Scanner;

/**
 * A process with a few descriptors left. For each number in its input it prints what it finds out about its devices
 * with that number of free descriptors. Then it listens, if the input requests that, and uses up its descriptors.
 */
public final class ScarceProcess {
    private static final Deque<FileInputStream> TAKEN = new ArrayDeque<>();

    private ScarceProcess() {}

    /** Runs the process; the arguments name a readable file, and an address to listen at. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        DeviceContext lo = open();
        String before = describe(lo);
        System.out.println("before " + before);
        Scanner input = new Scanner(System.in, StandardCharsets.UTF_8);
        while (input.hasNext()) {
            String word = input.next();
            if (word.equals("listen")) {
                System.out.println("listen " + listen(arguments[1], 7));
                before = describe(lo); // with the address
                take(arguments[0], 0);
                System.out.println("full");
                input.next();
                System.out.println("has " + (describe(lo).equals(before) ? "same" : describe(lo)));
            } else {
                take(arguments[0], Integer.parseInt(word));
                Thread.sleep(200); // the interfaces are cached for half as long
                String now = describe(lo);
                System.out.println("with " + word + " " + (now.equals(before) ? "same" : now));
            }
            free(TAKEN.size());
        }
    }

    private static DeviceContext open() {
        return Device.list().stream()
                .filter(device -> device.name().endsWith("_lo"))
                .findFirst()
                .orElseThrow()
                .open();
    }

    private static String describe(DeviceContext context) {
        return context.gidTable(1) + " " + context.port(1).state() + " "
                + context.port(1).activeMtu();
    }

    /** Returns the result of listening. */
    public static String listen(String address, int port) {
        try {
            CmId _ = ConnectionManager.ofProcess()
                    .listen(new InetSocketAddress(address, port), QueuePairInitAttributes.defaults());
            return "done";
        } catch (RdmaException e) {
            return e.errno() + " " + e.getMessage();
        }
    }

    private static void take(String file, int free) throws IOException {
        try {
            while (true) {
                TAKEN.push(new FileInputStream(file));
            }
        } catch (IOException exhausted) {
            free(free);
        }
    }

    private static void free(int count) throws IOException {
        for (int i = 0; i < count; i++) {
            TAKEN.pop().close();
        }
    }
}
