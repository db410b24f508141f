/** Connection management of the software device: what rdma_ucm and rdma_cm are in Linux, over the CM protocol machine. */
package io.rdma4j.soft.cm;
