/** Capture, trace and faults, which are added to links. */
package io.rdma4j.link.decorator;
