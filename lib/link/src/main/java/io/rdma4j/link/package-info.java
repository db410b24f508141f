/** Links, which send and receive bursts of frames, and sets of links that one thread waits for. */
package io.rdma4j.link;
