/** Processes of a test: started on a host, told what to do, stopped, killed, and asked. */
@NullMarked
package io.rdma4j.faults.process;

import org.jspecify.annotations.NullMarked;
