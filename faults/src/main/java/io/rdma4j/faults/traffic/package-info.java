/** What the processes of a test do: connect, move bytes that can be checked, and say what happened. */
@NullMarked
package io.rdma4j.faults.traffic;

import org.jspecify.annotations.NullMarked;
