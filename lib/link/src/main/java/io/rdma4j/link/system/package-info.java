/** The choice between the kinds of links that the operating system supports. */
package io.rdma4j.link.system;
