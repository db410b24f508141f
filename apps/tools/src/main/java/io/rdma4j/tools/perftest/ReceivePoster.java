package io.rdma4j.tools.perftest;

import java.util.List;

/**
 * Posts the receives of a run's queue pairs: the initial ones, and replacements for completed ones, in lists of
 * {@code --recv_post_list}. Allocates nothing while messages arrive. Not thread safe.
 */
final class ReceivePoster {
    private final Settings settings;
    private final List<QueuePairRun> receivers;
    private final long[] posted;

    /** The number of completed receives of each queue pair that have not been replaced. */
    private final int[] unused;

    /**
     * Creates a poster.
     *
     * @param queuePairs the number of queue pairs of the run
     * @param receivers the queue pairs that receive
     */
    ReceivePoster(Settings settings, int queuePairs, List<QueuePairRun> receivers) {
        this.settings = settings;
        this.receivers = receivers;
        posted = new long[queuePairs];
        unused = new int[queuePairs];
    }

    /**
     * Posts the initial receives, before the first message.
     *
     * @param cycle true if small messages cycle through slots of the memory
     */
    void postInitial(long sizeBytes, boolean cycle) {
        int lists = settings.receivesPerQueuePair() / settings.receivePostList;
        for (QueuePairRun receiver : receivers) {
            receiver.prepare(sizeBytes, cycle);
            for (int i = 0; i < lists; i++) {
                receiver.postReceives();
            }
            posted[receiver.index()] = (long) lists * settings.receivePostList;
            unused[receiver.index()] = 0;
        }
    }

    /**
     * Counts a completed receive, and posts new receives when a list of them has completed.
     *
     * @param receiver the queue pair for which the receive was posted. With a shared receive queue the message may have
     *     arrived at another queue pair.
     * @param limit the number of messages of each queue pair
     */
    void replace(QueuePairRun receiver, long limit) {
        int index = receiver.index();
        unused[index]++;
        if (unused[index] >= settings.receivePostList && posted[index] + settings.receivePostList <= limit) {
            receiver.postReceives();
            unused[index] -= settings.receivePostList;
            posted[index] += settings.receivePostList;
        }
    }
}
