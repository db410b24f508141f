package io.rdma4j.acceptance.relay;

import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
import java.io.IOException;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The relay process: two interfaces, and one thread that forwards packets between them.
 *
 * <p>The parameters are {@code left} and {@code right} (names of the interfaces to create) and {@code seed}. It reports
 * {@code ready}. In response to {@code disturb left|right DISTURBANCE}, which applies to packets arriving there, and to
 * {@code count}, it reports {@code counts}: the numbers of packets arriving at {@code left} and {@code right}, by what
 * was done to them. It exits on {@code end}.
 */
public final class RelayProcess implements Role {
    private static final long LONGEST_WAIT_NANOS = 10_000_000;

    private final Queue<Runnable> commands = new ConcurrentLinkedQueue<>();
    private volatile boolean stopping;

    /** Creates the role. */
    public RelayProcess() {}

    @Override
    public void run(Parent parent) throws IOException, InterruptedException {
        Tun left = Tun.create(parent.text("left", "left"));
        Tun right = Tun.create(parent.text("right", "right"));
        long seed = parent.number("seed", 1);
        Direction toLeft = new Direction(right, left, seed);
        Direction toRight = new Direction(left, right, ~seed);
        Tun.Poll poll = new Tun.Poll(left, right);
        Thread forwarder = Thread.ofPlatform().start(() -> forward(toLeft, toRight, poll));
        parent.report("ready", 1);
        for (String line = parent.nextCommand(); !line.equals("end"); line = parent.nextCommand()) {
            String[] parts = line.split(" ", -1);
            if (parts[0].equals("disturb")) {
                Disturbance disturbance = Disturbance.parse(parts[2]);
                Direction direction = parts[1].equals("left") ? toLeft : toRight;
                commands.add(() -> direction.disturb(disturbance));
            }
            commands.add(() -> parent.report("counts", Map.of("left", toLeft.counts(), "right", toRight.counts())));
        }
        stopping = true;
        forwarder.join();
    }

    private void forward(Direction toLeft, Direction toRight, Tun.Poll poll) {
        while (!stopping) {
            for (Runnable command = commands.poll(); command != null; command = commands.poll()) {
                command.run();
            }
            long now = System.nanoTime();
            boolean moreToLeft = toLeft.receive(now);
            boolean moreToRight = toRight.receive(now);
            now = System.nanoTime();
            long due = Math.min(toLeft.releaseDue(now), toRight.releaseDue(now));
            if (!moreToLeft && !moreToRight && due > now) {
                poll.await(Math.min(due - now, LONGEST_WAIT_NANOS));
            }
        }
    }
}
