/** Connection management of the software device, like Linux's rdma_cm and rdma_ucm, over the CM protocol machine. */
package io.rdma4j.soft.cm;
