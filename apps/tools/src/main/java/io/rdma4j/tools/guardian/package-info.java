/** rdma4j guardian: disconnects the peers of processes of this user that are killed. */
package io.rdma4j.tools.guardian;
