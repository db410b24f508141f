/** The demonstration: rping and other tools between two processes of this host, with explanations. */
package io.rdma4j.tools.demo;
