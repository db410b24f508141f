/** The entry of calls from C. */
package io.rdma4j.exec;
