/** What connection management needs of the host: routes, the text of addresses, and the end of the process. */
package io.rdma4j.cm.host;
