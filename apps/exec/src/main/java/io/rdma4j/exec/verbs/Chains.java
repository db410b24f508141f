package io.rdma4j.exec.verbs;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.PartialPostException;
import io.rdma4j.verbs.abi.Native;
import io.rdma4j.verbs.abi.ReceiveRequest;

/** Chains of work requests in memory of C, in which {@code next} of both kinds of requests has the same place. */
final class Chains {
    private Chains() {}

    /** Returns the request that a failure of posting is about: the one behind those that were posted. */
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
     * @param bad the address at which this address is stored; 0 if the caller does not want it
     * @return the error number
     */
    static int refuse(long first, long bad, Errno error) {
        if (bad != 0) {
            Native.putLong(bad, first);
        }
        return error.number();
    }
}
