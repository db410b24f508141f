/** rping: the RDMA ping-pong of librdmacm, with its options, lines and exit statuses. */
package io.rdma4j.tools.rping;
