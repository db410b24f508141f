/** Options of the software device. */
package io.rdma4j.soft.options;
