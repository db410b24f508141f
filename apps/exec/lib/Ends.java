import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.verbs.QueuePairInitAttributes;
import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;

/**
 * The ends of idle connections, as ends.c. "client ADDRESS" prints the events of a connection with the time in milliseconds. "server COUNT WAY"
 * accepts connections and ends by halt when SIGUSR2 arrives, or waits for a signal.
 */
final class Ends {
    private static final int PORT = 7471;

    private Ends() {}

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("client")) {
            CmId id = ConnectionManager.ofProcess()
                    .connect(new InetSocketAddress(arguments[1], PORT), QueuePairInitAttributes.defaults());
            System.out.println("RDMA_CM_EVENT_ESTABLISHED " + System.currentTimeMillis());
            id.awaitDisconnect();
            System.out.println("RDMA_CM_EVENT_DISCONNECTED " + System.currentTimeMillis());
            System.exit(0);
        }
        try (CmId listener =
                ConnectionManager.ofProcess().listen(new InetSocketAddress(PORT), QueuePairInitAttributes.defaults())) {
            System.out.println("listening " + ProcessHandle.current().pid());
            for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
                listener.getRequest().accept();
            }
            System.out.println("connected");
            if (arguments[2].equals("halt")) {
                sun.misc.Signal.handle(new sun.misc.Signal("USR2"), _ -> Runtime.getRuntime().halt(3));
            }
            new CountDownLatch(1).await();
        }
    }
}
