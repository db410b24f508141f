/** rdma4j top: the queue pairs and devices of the processes of this host, with their rates. */
package io.rdma4j.tools.top;
