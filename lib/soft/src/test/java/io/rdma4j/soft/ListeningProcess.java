package io.rdma4j.soft;

/** A process that listens on an address and a port, and prints whether that was possible. */
public final class ListeningProcess {
    private ListeningProcess() {}

    /** Runs the process until its input ends. */
    public static void main(String[] arguments) throws Exception {
        System.out.println("listen " + ScarceProcess.listen(arguments[0], Integer.parseInt(arguments[1])));
        int _ = System.in.read();
    }
}
