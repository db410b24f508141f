/** The command-line tools: rping and its family. */
package io.rdma4j.tools;
