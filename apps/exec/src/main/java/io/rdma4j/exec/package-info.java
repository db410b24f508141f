/** The entry point of calls from C. */
package io.rdma4j.exec;
