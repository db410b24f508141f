package io.rdma4j.exec.verbs;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.PartialPostException;
import io.rdma4j.verbs.abi.Native;
import io.rdma4j.verbs.abi.VerbsStructures.ReceiveRequest;

/** Chains of work requests in native memory. The field {@code next} has the same offset in sends and receives. */
final class Chains {
    private Chains() {}

    /** Returns the address of the request that could not be posted: the first one after those that were posted. */
    static long skip(long first, Throwable failure) {
        int posted = failure instanceof PartialPostException partial ? partial.posted() : 0;
        long request = first;
        for (int i = 0; i < posted; i++) {
            request = Native.longAt(request + ReceiveRequest.NEXT);
        }
        return request;
    }

    /**
     * Refuses a whole chain.
     *
     * @param first the address of the first request
     * @param bad the location to which {@code first} is written, or 0
     * @return the error number
     */
    static int refuse(long first, long bad, Errno error) {
        if (bad != 0) {
            Native.putLong(bad, first);
        }
        return error.number();
    }
}
