/** The demonstration: rping between two processes of this host, explained. */
package io.rdma4j.tools.demo;
