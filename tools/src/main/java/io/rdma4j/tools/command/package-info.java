/** What the command-line tools share: the tool interface, option parsing, output as C prints it, and reports of errors. */
package io.rdma4j.tools.command;
