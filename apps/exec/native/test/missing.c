/*
 * Lists the devices where no Java virtual machine can be started. Exits with 0 if there is no list
 * and the error is the same as on a system without devices. The library prints its message to
 * standard error.
 */
#include <errno.h>

#include "verbs_abi.h"

int main(void)
{
	int count = -1;
	struct ibv_device **list = ibv_get_device_list(&count);

	return list || count != 0 || errno != ENODEV;
}
