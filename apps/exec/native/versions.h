/*
 * Names of functions and their versions. Drivers and librdmacm are linked with a version
 * IBVERBS_PRIVATE_*, whose number changes with the private structures: there is one each for
 * rdma-core 24 to 56, 57 and 58, 59 to 63, 64, and 65.
 */
#ifndef RDMA4J_VERSIONS_H
#define RDMA4J_VERSIONS_H

/*
 * Exports a function of this file under another name as well. The arguments that callers pass do
 * not matter.
 */
#define IS(name, function) extern __typeof__(function) name __attribute__((alias(#function), visibility("default")))

/* Exports a function of this file as a version of a name. verbs.map hides the names with the prefix "at_". */
#define IS_AT(name, node, node_name, function) \
	IS(at_##node##_##name, function); \
	__asm__(".symver at_" #node "_" #name ", " #name "@" node_name)

#define IS_LATER_PRIVATE(name, function) \
	IS_AT(name, 57, "IBVERBS_PRIVATE_57", function); \
	IS_AT(name, 59, "IBVERBS_PRIVATE_59", function); \
	IS_AT(name, 64, "IBVERBS_PRIVATE_64", function); \
	IS_AT(name, 65, "IBVERBS_PRIVATE_65", function)

#define IS_PRIVATE(name, function) \
	IS_AT(name, 34, "IBVERBS_PRIVATE_34", function); \
	IS_LATER_PRIVATE(name, function)

/* Like IS_PRIVATE, and the function is also the default for programs that name no version. */
#define IS_PRIVATE_DEFAULT(name, function) \
	IS_AT(name, 34, "@IBVERBS_PRIVATE_34", function); \
	IS_LATER_PRIVATE(name, function)

#endif
