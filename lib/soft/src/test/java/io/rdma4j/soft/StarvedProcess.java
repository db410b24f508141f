package io.rdma4j.soft;

import io.rdma4j.cm.CmId;
import io.rdma4j.soft.host.SystemFailure;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.RdmaException;
import java.io.FileInputStream;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * A process that uses up its descriptors. It prints the errors of an application's first steps, without descriptors and
 * afterwards.
 */
public final class StarvedProcess {
    private StarvedProcess() {}

    /** Runs the process; the argument names a readable file. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        // Classes in separate files, not in a JAR, are loaded while there are descriptors for them.
        RdmaException any = SystemFailure.of("", "", new IOException(), "");
        System.out.println("begin " + any.errno());
        printSteps();
        Deque<FileInputStream> taken = new ArrayDeque<>();
        try {
            while (true) {
                taken.push(new FileInputStream(arguments[0]));
            }
        } catch (IOException exhausted) {
            Thread.sleep(200); // the interfaces are cached for half as long
        }
        printSteps();
        while (!taken.isEmpty()) {
            taken.pop().close();
        }
        printSteps();
    }

    private static void printSteps() {
        System.out.println("list " + errno(StarvedProcess::list));
        System.out.println("create " + errno(StarvedProcess::create));
    }

    private static String errno(Runnable step) {
        try {
            step.run();
            return "done";
        } catch (RdmaException e) {
            return e.errno().toString();
        }
    }

    private static void list() {
        if (Device.list().isEmpty()) {
            throw new IllegalStateException("no devices, and no reason");
        }
    }

    private static void create() {
        CmId.create(PortSpace.TCP).close();
    }
}
