/*
 * Functions that the library exports because programs are linked with them, but that fail: the
 * device does not support them, or only hardware drivers call them.
 *
 * There are three kinds: public functions; the functions of IBVERBS_PRIVATE_*, used by libmlx5 and
 * other drivers that programs load; and version IBVERBS_1.0 of functions that a later version
 * replaced. Programs linked with 1.0, from before 2007, have different structure layouts, so no
 * function could serve both.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>

#include "versions.h"

static int unsupported_int(void)
{
	errno = EOPNOTSUPP;
	return EOPNOTSUPP;
}

static void *unsupported_pointer(void)
{
	errno = EOPNOTSUPP;
	return NULL;
}

/* Some functions return -1 or a negative error number. */
static int unsupported_minus_one(void)
{
	errno = EOPNOTSUPP;
	return -1;
}

static void nothing(void)
{
}

/* Public functions */

/* Objects of another process */
IS(ibv_import_device, unsupported_pointer);
IS(ibv_import_pd, unsupported_pointer);
IS(ibv_import_mr, unsupported_pointer);
IS(ibv_import_dm, unsupported_pointer);
IS(ibv_unimport_pd, nothing);
IS(ibv_unimport_mr, nothing);
IS(ibv_unimport_dm, nothing);

/* Connection extensions, which are vendor-specific */
IS(ibv_query_ece, unsupported_int);
IS(ibv_set_ece, unsupported_int);

/* Device memory, and hints for processors */
IS(ibv_reg_dmabuf_mr, unsupported_pointer);
IS(ibv_dm_export_dmabuf_fd, unsupported_minus_one);
IS(ibv_alloc_dmah, unsupported_pointer);
IS(ibv_dealloc_dmah, unsupported_int);

/* Completion counters */
IS(_ibv_query_comp_cntr_caps, unsupported_int);
IS(ibv_create_comp_cntr, unsupported_pointer);
IS(ibv_destroy_comp_cntr, unsupported_int);
IS(ibv_inc_comp_cntr, unsupported_int);
IS(ibv_inc_err_comp_cntr, unsupported_int);
IS(ibv_qp_attach_comp_cntr, unsupported_int);
IS(ibv_read_comp_cntr, unsupported_int);
IS(ibv_read_err_comp_cntr, unsupported_int);
IS(ibv_set_comp_cntr, unsupported_int);
IS(ibv_set_err_comp_cntr, unsupported_int);

/* The link-layer address of a path: the operating system chooses it for a software device. */
IS(ibv_resolve_eth_l2_from_gid, unsupported_minus_one);

/* Other versions of names */

#define IS_OLD(name, function) IS_AT(name, 1_0, "IBVERBS_1.0", function)

IS_AT(ibv_register_driver, 1_1, "IBVERBS_1.1", nothing);

/* Drivers call these when they are loaded. */
IS_AT(verbs_register_driver_34, 34, "IBVERBS_PRIVATE_34", nothing);
IS_AT(verbs_register_driver_57, 57, "IBVERBS_PRIVATE_57", nothing);
IS_AT(verbs_register_driver_59, 59, "IBVERBS_PRIVATE_59", nothing);
IS_AT(verbs_register_driver_64, 64, "IBVERBS_PRIVATE_64", nothing);
IS_AT(verbs_register_driver_65, 65, "IBVERBS_PRIVATE_65", nothing);

IS_PRIVATE(__verbs_log, nothing);
IS_PRIVATE(verbs_init_cq, nothing);
IS_PRIVATE(verbs_set_ops, nothing);
IS_PRIVATE(verbs_uninit_context, nothing);
IS_PRIVATE(verbs_open_device, unsupported_pointer);
IS_PRIVATE(_verbs_init_and_alloc_context, unsupported_pointer);
IS_PRIVATE(__ioctl_final_num_attrs, unsupported_int);
IS_PRIVATE(execute_ioctl, unsupported_int);
IS_PRIVATE(ibv_read_ibdev_sysfs_file, unsupported_minus_one);

static char allows_disassociate;
#define IS_PRIVATE_FLAG(node) \
	extern char at_##node##_flag __attribute__((alias("allows_disassociate"), visibility("default"))); \
	__asm__(".symver at_" #node "_flag, verbs_allow_disassociate_destroy@IBVERBS_PRIVATE_" #node)
IS_PRIVATE_FLAG(34);
IS_PRIVATE_FLAG(57);
IS_PRIVATE_FLAG(59);
IS_PRIVATE_FLAG(64);
IS_PRIVATE_FLAG(65);

/* Commands to the kernel */
IS_PRIVATE(ibv_cmd_advise_mr, unsupported_int);
IS_PRIVATE(ibv_cmd_alloc_dm, unsupported_int);
IS_PRIVATE(ibv_cmd_alloc_dmah, unsupported_int);
IS_PRIVATE(ibv_cmd_alloc_mw, unsupported_int);
IS_PRIVATE(ibv_cmd_alloc_pd, unsupported_int);
IS_PRIVATE(ibv_cmd_attach_mcast, unsupported_int);
IS_PRIVATE(ibv_cmd_close_xrcd, unsupported_int);
IS_PRIVATE(ibv_cmd_create_ah, unsupported_int);
IS_PRIVATE(ibv_cmd_create_comp_cntr, unsupported_int);
IS_PRIVATE(ibv_cmd_create_counters, unsupported_int);
IS_PRIVATE(ibv_cmd_create_cq, unsupported_int);
IS_PRIVATE(ibv_cmd_create_cq_ex, unsupported_int);
IS_PRIVATE(ibv_cmd_create_cq_ex2, unsupported_int);
IS_PRIVATE(ibv_cmd_create_flow, unsupported_int);
IS_PRIVATE(ibv_cmd_create_flow_action_esp, unsupported_int);
IS_PRIVATE(ibv_cmd_create_qp, unsupported_int);
IS_PRIVATE(ibv_cmd_create_qp_ex, unsupported_int);
IS_PRIVATE(ibv_cmd_create_qp_ex2, unsupported_int);
IS_PRIVATE(ibv_cmd_create_rwq_ind_table, unsupported_int);
IS_PRIVATE(ibv_cmd_create_srq, unsupported_int);
IS_PRIVATE(ibv_cmd_create_srq_ex, unsupported_int);
IS_PRIVATE(ibv_cmd_create_wq, unsupported_int);
IS_PRIVATE(ibv_cmd_dealloc_mw, unsupported_int);
IS_PRIVATE(ibv_cmd_dealloc_pd, unsupported_int);
IS_PRIVATE(ibv_cmd_dereg_mr, unsupported_int);
IS_PRIVATE(ibv_cmd_destroy_ah, unsupported_int);
IS_PRIVATE(ibv_cmd_destroy_comp_cntr, unsupported_int);
IS_PRIVATE(ibv_cmd_destroy_counters, unsupported_int);
IS_PRIVATE(ibv_cmd_destroy_cq, unsupported_int);
IS_PRIVATE(ibv_cmd_destroy_flow, unsupported_int);
IS_PRIVATE(ibv_cmd_destroy_flow_action, unsupported_int);
IS_PRIVATE(ibv_cmd_destroy_qp, unsupported_int);
IS_PRIVATE(ibv_cmd_destroy_rwq_ind_table, unsupported_int);
IS_PRIVATE(ibv_cmd_destroy_srq, unsupported_int);
IS_PRIVATE(ibv_cmd_destroy_wq, unsupported_int);
IS_PRIVATE(ibv_cmd_detach_mcast, unsupported_int);
IS_PRIVATE(ibv_cmd_export_dmabuf_fd, unsupported_minus_one);
IS_PRIVATE(ibv_cmd_free_dm, unsupported_int);
IS_PRIVATE(ibv_cmd_free_dmah, unsupported_int);
IS_PRIVATE(ibv_cmd_get_context, unsupported_int);
IS_PRIVATE(ibv_cmd_inc_comp_cntr, unsupported_int);
IS_PRIVATE(ibv_cmd_inc_err_comp_cntr, unsupported_int);
IS_PRIVATE(ibv_cmd_modify_cq, unsupported_int);
IS_PRIVATE(ibv_cmd_modify_flow_action_esp, unsupported_int);
IS_PRIVATE(ibv_cmd_modify_qp, unsupported_int);
IS_PRIVATE(ibv_cmd_modify_qp_ex, unsupported_int);
IS_PRIVATE(ibv_cmd_modify_srq, unsupported_int);
IS_PRIVATE(ibv_cmd_modify_wq, unsupported_int);
IS_PRIVATE(ibv_cmd_open_qp, unsupported_int);
IS_PRIVATE(ibv_cmd_open_xrcd, unsupported_int);
IS_PRIVATE(ibv_cmd_poll_cq, unsupported_minus_one);
IS_PRIVATE(ibv_cmd_post_recv, unsupported_int);
IS_PRIVATE(ibv_cmd_post_send, unsupported_int);
IS_PRIVATE(ibv_cmd_post_srq_recv, unsupported_int);
IS_PRIVATE(ibv_cmd_qp_attach_comp_cntr, unsupported_int);
IS_PRIVATE(ibv_cmd_query_comp_cntr_caps, unsupported_int);
IS_PRIVATE(ibv_cmd_query_context, unsupported_int);
IS_PRIVATE(ibv_cmd_query_device_any, unsupported_int);
IS_PRIVATE(ibv_cmd_query_mr, unsupported_int);
IS_PRIVATE(ibv_cmd_query_port, unsupported_int);
IS_PRIVATE(ibv_cmd_query_port_speed, unsupported_int);
IS_PRIVATE(ibv_cmd_query_qp, unsupported_int);
IS_PRIVATE(ibv_cmd_query_srq, unsupported_int);
IS_PRIVATE(ibv_cmd_read_comp_cntr, unsupported_int);
IS_PRIVATE(ibv_cmd_read_counters, unsupported_int);
IS_PRIVATE(ibv_cmd_read_err_comp_cntr, unsupported_int);
IS_PRIVATE(ibv_cmd_reg_dm_mr, unsupported_int);
IS_PRIVATE(ibv_cmd_reg_dmabuf_mr, unsupported_int);
IS_PRIVATE(ibv_cmd_reg_mr, unsupported_int);
IS_PRIVATE(ibv_cmd_reg_mr_ex, unsupported_int);
IS_PRIVATE(ibv_cmd_req_notify_cq, unsupported_int);
IS_PRIVATE(ibv_cmd_rereg_mr, unsupported_int);
IS_PRIVATE(ibv_cmd_resize_cq, unsupported_int);
IS_PRIVATE(ibv_cmd_set_comp_cntr, unsupported_int);
IS_PRIVATE(ibv_cmd_set_err_comp_cntr, unsupported_int);
IS_PRIVATE(ibv_dmabuf_heap_alloc, unsupported_minus_one);
IS_PRIVATE(ibv_dmabuf_heap_cc_shared_init, unsupported_pointer);
IS_PRIVATE(ibv_dmabuf_heap_destroy, nothing);
IS_PRIVATE(ibv_dmabuf_heap_free, nothing);

/* Version 1.0. A program that gets no list of devices never reaches the others. */

static void *old_device_list(int *count)
{
	fputs("rdma4j exec: the program is linked with libibverbs 1.0 (before 2007), which has "
	      "different structures: link it with a later version\n", stderr);
	if (count)
		*count = 0;
	return unsupported_pointer();
}

IS_OLD(ibv_get_device_list, old_device_list);
IS_OLD(ibv_free_device_list, nothing);
IS_OLD(ibv_get_device_name, unsupported_pointer);
IS_OLD(ibv_get_device_guid, unsupported_pointer);
IS_OLD(ibv_open_device, unsupported_pointer);
IS_OLD(ibv_close_device, unsupported_int);
IS_OLD(ibv_get_async_event, unsupported_minus_one);
IS_OLD(ibv_ack_async_event, nothing);
IS_OLD(ibv_query_device, unsupported_int);
IS_OLD(ibv_query_port, unsupported_int);
IS_OLD(ibv_query_gid, unsupported_minus_one);
IS_OLD(ibv_query_pkey, unsupported_minus_one);
IS_OLD(ibv_alloc_pd, unsupported_pointer);
IS_OLD(ibv_dealloc_pd, unsupported_int);
IS_OLD(ibv_reg_mr, unsupported_pointer);
IS_OLD(ibv_dereg_mr, unsupported_int);
IS_OLD(ibv_create_cq, unsupported_pointer);
IS_OLD(ibv_resize_cq, unsupported_int);
IS_OLD(ibv_destroy_cq, unsupported_int);
IS_OLD(ibv_get_cq_event, unsupported_minus_one);
IS_OLD(ibv_ack_cq_events, nothing);
IS_OLD(ibv_create_srq, unsupported_pointer);
IS_OLD(ibv_modify_srq, unsupported_int);
IS_OLD(ibv_query_srq, unsupported_int);
IS_OLD(ibv_destroy_srq, unsupported_int);
IS_OLD(ibv_create_qp, unsupported_pointer);
IS_OLD(ibv_query_qp, unsupported_int);
IS_OLD(ibv_modify_qp, unsupported_int);
IS_OLD(ibv_destroy_qp, unsupported_int);
IS_OLD(ibv_create_ah, unsupported_pointer);
IS_OLD(ibv_destroy_ah, unsupported_int);
IS_OLD(ibv_attach_mcast, unsupported_int);
IS_OLD(ibv_detach_mcast, unsupported_int);
