package io.rdma4j.soft;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.PortSpace;
import io.rdma4j.soft.share.SystemFailure;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.RdmaException;
import java.io.FileInputStream;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;

/** A process that takes all its descriptors and says what the first steps of an application say then, and after that. */
public final class StarvedProcess {
    private StarvedProcess() {}

    /** Runs; the argument names a file that can be read. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        // Classes that lie in files of their own, not in a JAR, are loaded while there are descriptors for that.
        RdmaException any = SystemFailure.of("", "", new IOException(), "");
        System.out.println("begin " + any.errno());
        tellSteps();
        Deque<FileInputStream> taken = new ArrayDeque<>();
        try {
            while (true) {
                taken.push(new FileInputStream(arguments[0]));
            }
        } catch (IOException exhausted) {
            Thread.sleep(200); // the interfaces are remembered for half as long
        }
        tellSteps();
        while (!taken.isEmpty()) {
            taken.pop().close();
        }
        tellSteps();
    }

    private static void tellSteps() {
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
        CmId.create(PortSpace.TCP, null).close();
    }
}
