/** The entry point of calls from C (decision 052). */
package io.rdma4j.exec;
