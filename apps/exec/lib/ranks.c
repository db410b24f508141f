/*
 * An MPI program for two ranks: they add numbers, exchange messages of several sizes, and write
 * into each other's memory. Exits with 0 if everything received is right.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define LARGEST (1 << 20)

static unsigned char pattern(int sender, int bytes, int index)
{
	return (unsigned char)(sender * 101 + bytes * 7 + index * 13 + (index >> 8));
}

static void fill(unsigned char *data, int sender, int bytes)
{
	for (int i = 0; i < bytes; i++)
		data[i] = pattern(sender, bytes, i);
}

static int count_wrong(const unsigned char *data, int sender, int bytes)
{
	int wrong = 0;

	for (int i = 0; i < bytes; i++)
		wrong += data[i] != pattern(sender, bytes, i);
	return wrong;
}

static int add(int rank)
{
	int sum = 0;
	int mine = rank + 1;

	MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	return sum != 3;
}

/* From sizes that UCX sends eagerly to sizes that the receiver fetches by RDMA. */
static int exchange(int rank, unsigned char *sent, unsigned char *received)
{
	int wrong = 0;

	for (int bytes = 1; bytes <= LARGEST; bytes *= 4) {
		fill(sent, rank, bytes);
		MPI_Sendrecv(sent, bytes, MPI_BYTE, 1 - rank, bytes, received, bytes, MPI_BYTE, 1 - rank, bytes, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
		wrong += count_wrong(received, 1 - rank, bytes);
	}
	return wrong;
}

static int put(int rank, unsigned char *sent, unsigned char *target)
{
	MPI_Win window;
	int bytes = 5000;

	MPI_Win_create(target, LARGEST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
	fill(sent, rank, bytes);
	MPI_Win_fence(0, window);
	MPI_Put(sent, bytes, MPI_BYTE, 1 - rank, 0, bytes, MPI_BYTE, window);
	MPI_Win_fence(0, window);
	MPI_Win_free(&window);
	return count_wrong(target, 1 - rank, bytes);
}

int main(int count, char **arguments)
{
	unsigned char *sent = malloc(LARGEST);
	unsigned char *received = malloc(LARGEST);
	int rank;
	int ranks;
	int wrong;

	MPI_Init(&count, &arguments);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	wrong = ranks != 2 || !sent || !received;
	if (!wrong)
		wrong = add(rank) + exchange(rank, sent, received) + put(rank, sent, received);
	printf("rank %d: %d wrong\n", rank, wrong);
	MPI_Finalize();
	return wrong != 0;
}
