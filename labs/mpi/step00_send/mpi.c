// Lab mpi, step 00: send. Each rank sends the sum of its part to rank 0, which adds.
// Build and run: mpicc -O3 -march=native -o mpi mpi.c && mpirun -n 4 ./mpi

#include <math.h>
#include <mpi.h>

static const char STEP[] = "step00_send";

enum { SUM, LARGEST, ANSWER = SUM }; // the result of reduce

// One rank's part of the array: n elements, and the index of the first of them.
struct part {
    const float *in;
    long long n, first;
};

// Called once, before the first run.
static void start(void)
{
}

static float add(struct part part)
{
    float sum = 0;
    for (long long i = 0; i < part.n; i++)
        sum += part.in[i];
    return sum;
}

// Collective; each rank passes its part. Returns the sum of the whole array on rank 0.
static double reduce(struct part part, MPI_Comm ranks)
{
    float sum = add(part);
    int rank, count;
    MPI_Comm_rank(ranks, &rank);
    MPI_Comm_size(ranks, &count);
    if (rank != 0)
        MPI_Send(&sum, 1, MPI_FLOAT, 0, 0, ranks);
    for (int from = 1; rank == 0 && from < count; from++) {
        float received;
        MPI_Recv(&received, 1, MPI_FLOAT, from, 0, ranks, MPI_STATUS_IGNORE);
        sum += received;
    }
    return sum;
}

// ==== Harness: the same in every step of this lab from here on; the lesson is above. ====

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BAD_ARGUMENT = 2, MIN_RUNS = 3, MAX_RUNS = 51, ENOUGH_MS = 500 };
enum { CHECKED = 130 };       // elements for each rank, in the untimed runs
enum { COPIES = 4 };          // of the array in memory; the runs use them in rotation
enum { PERIOD = 2 * 500009 }; // of the data; no vector and no rank's part divides it
static const long long MAX_ELEMENTS = INT_MAX; // limit of MPI_FLOAT_INT in step 02

static float values[PERIOD];             // one period of the data
static long long first_sums[PERIOD + 1]; // of its first 0, 1, ... elements, in sixteenths

struct data {
    long long n;              // elements of all ranks
    struct part part[COPIES]; // of this rank, each followed by one more element
};

// Every rank calls this with the same arguments; only rank 0 prints.
static void parse_arguments(int argc, char **argv, int rank, long long *n, bool *csv)
{
    for (int i = 1; i < argc; i++) {
        const bool digits = strspn(argv[i], "0123456789") == strlen(argv[i]);
        const long long count = digits ? strtoll(argv[i], NULL, 10) : 0;
        if (strcmp(argv[i], "--csv") == 0) {
            *csv = true;
        } else if (*n == 0 && count >= 1 && count <= MAX_ELEMENTS) {
            *n = count;
        } else {
            if (rank == 0)
                fprintf(stderr,
                        "unusable argument '%s': accepted are --csv, SIZE (1 to %lld)\n",
                        argv[i], MAX_ELEMENTS);
            MPI_Finalize();
            exit(BAD_ARGUMENT);
        }
    }
    *n = *n == 0 ? 1ll << 26 : *n;
}

// An element is 1 to 16 sixteenths, or -1 to -16; never 0: losing a 0 would pass. The
// second half of a period is the first with opposite signs, so that sums stay small: below
// 2^24 sixteenths float addition is exact in any order.
static void make_values(void)
{
    unsigned long long random = 1;
    for (int i = 0; i < PERIOD / 2; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u; // Knuth, MMIX
        const int value = (int)(random >> 59) - 16;
        values[i] = (value + (value >= 0)) / 16.0f;
        values[i + PERIOD / 2] = -values[i];
    }
    for (int i = 0; i < PERIOD; i++)
        first_sums[i + 1] = first_sums[i] + (long long)(16 * values[i]);
}

// Creates this rank's part of all copies of the array; false if they do not fit.
static bool make_data(struct data *d, long long n, int rank, int ranks)
{
    const long long first = n * rank / ranks, own = n * (rank + 1) / ranks - first;
    float *in = malloc(COPIES * (own + 1) * sizeof(float));
    for (int copy = 0; in != NULL && copy < COPIES; copy++, in += own + 1) {
        const long long begin = copy * (n + 1); // as if one rank had the whole array
        for (long long i = 0, more; i <= own; i += more) {
            const long long from = (begin + first + i) % PERIOD;
            more = own + 1 - i < PERIOD - from ? own + 1 - i : PERIOD - from;
            memcpy(in + i, values + from, more * sizeof(float));
        }
        d->part[copy] = (struct part){in, own, first};
    }
    d->n = n;
    return in != NULL;
}

// Writes an element of the array, if this rank has it.
static void write_element(struct part part, long long index, float value)
{
    if (part.first <= index && index < part.first + part.n)
        ((float *)part.in)[index - part.first] = value;
}

// The time of one run: that of its slowest rank, or infinity if rank 0 finds a wrong
// answer. During the run two elements are the largest: first, and a later one.
static double run_ms(const struct data *d, int copy, long long first, MPI_Comm ranks)
{
    const long long large[] = {first, first + (d->n - first) / 2};
    const long long begin = copy * (d->n + 1); // as if one rank had the whole array
    long long sum = first_sums[(begin + d->n) % PERIOD] - first_sums[begin % PERIOD];
    for (int i = 0; i < 1 + (large[0] < large[1]); i++) {
        sum += 17 + copy - (long long)(16 * values[(begin + large[i]) % PERIOD]);
        write_element(d->part[copy], large[i], (17 + copy) / 16.0f);
    }
    const double expected = ANSWER == SUM ? sum / 16.0 : first;
    int rank;
    MPI_Comm_rank(ranks, &rank);
    MPI_Barrier(ranks);
    const double start = MPI_Wtime();
    const double answer = reduce(d->part[copy], ranks);
    double ms = 1e3 * (MPI_Wtime() - start);
    if (rank == 0 && answer != expected) {
        fprintf(stderr, "FAIL: the answer for %lld elements is %.4f, expected %.4f\n", d->n,
                answer, expected);
        ms = INFINITY; // for all ranks
    }
    MPI_Allreduce(MPI_IN_PLACE, &ms, 1, MPI_DOUBLE, MPI_MAX, ranks);
    for (int i = 0; i < 2; i++)
        write_element(d->part[copy], large[i], values[(begin + large[i]) % PERIOD]);
    return ms;
}

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

// The median of the timed runs, in ms; infinity if an answer is wrong. Each run puts the
// largest element at another of most + 1 positions from end to end, the last one first.
static double median_ms(const struct data *d, int most, MPI_Comm ranks)
{
    double ms[most], total_ms = 0;
    const double enough_ms = most == MAX_RUNS ? ENOUGH_MS : 2 * ENOUGH_MS;
    int run = -1; // the first run is a warm-up
    for (; run < MIN_RUNS || (run < most && total_ms < enough_ms); run++) {
        const long long mixed = (most + (run + 1) * 1000003ll) % (most + 1); // a prime
        const double took_ms =
            run_ms(d, (run + COPIES) % COPIES, (d->n - 1) * mixed / most, ranks);
        if (took_ms == INFINITY)
            return INFINITY;
        if (run >= 0)
            total_ms += ms[run] = took_ms;
    }
    qsort(ms, run, sizeof ms[0], compare);
    return (ms[(run - 1) / 2] + ms[run / 2]) / 2;
}

// Times the reduction of n elements by all ranks. Returns the program's exit status.
static int measure(long long n, int most, MPI_Comm ranks, double *ms)
{
    struct data d;
    int rank, count;
    MPI_Comm_rank(ranks, &rank);
    MPI_Comm_size(ranks, &count);
    int fits = make_data(&d, n, rank, count);
    MPI_Allreduce(MPI_IN_PLACE, &fits, 1, MPI_INT, MPI_MIN, ranks);
    if (!fits && rank == 0)
        fprintf(stderr, "%lld elements, %d times, do not fit in memory\n", n, COPIES);
    if (!fits)
        return BAD_ARGUMENT;
    *ms = median_ms(&d, most, ranks);
    free((void *)d.part[0].in);
    return *ms == INFINITY ? EXIT_FAILURE : EXIT_SUCCESS;
}

// The largest status of all ranks. A waiting rank sleeps, and leaves its core to others.
static void share(int *status)
{
    MPI_Request request;
    MPI_Iallreduce(MPI_IN_PLACE, status, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
    for (int done = 0; !done; usleep(1000))
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

static void find_cpu_name(char name[64])
{
    char line[256];
    strcpy(name, "cpu"); // if /proc/cpuinfo does not name it
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "model name : %63[^,\n]", name) == 1)
            break;
    if (file)
        fclose(file);
}

int main(int argc, char **argv)
{
    long long n = 0;
    bool csv = false;
    int rank, most, status = EXIT_SUCCESS;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &most);
    parse_arguments(argc, argv, rank, &n, &csv);
    char cpu[64];
    find_cpu_name(cpu);
    const int cores = sysconf(_SC_NPROCESSORS_ONLN);
    make_values();
    start();

    if (csv && rank == 0)
        printf("step,device,elements,ranks,cores,median_ms,gb_per_s,speedup,efficiency,"
               "cost_ms,overhead_ms,status\n");
    double ms, overhead_ms, untimed_ms, one_ms = 0; // one_ms: with one rank
    for (int count = 1;; count = 2 * count < most ? 2 * count : most) {
        MPI_Comm ranks; // the first count ranks; the others wait
        MPI_Comm_split(MPI_COMM_WORLD, rank < count ? 0 : MPI_UNDEFINED, rank, &ranks);
        const int checked = CHECKED * count;
        if (rank < count && !(status = measure(n, MAX_RUNS, ranks, &ms)) &&
            !(status = measure(count, MAX_RUNS, ranks, &overhead_ms))) // one each
            status = measure(n < checked ? n : checked + 1, checked, ranks, &untimed_ms);
        share(&status);
        if (rank == 0 && status == EXIT_SUCCESS) {
            one_ms = count == 1 ? ms : one_ms;
            const double speedup = one_ms / ms, gb_per_s = n * sizeof(float) / ms / 1e6;
            if (!csv && count > cores)
                printf("more ranks than cores: they share cores\n");
            printf(csv ? "%s,%s,%lld,%d,%d,%.6f,%.3f,%.3f,%.3f,%.6f,%.6f,PASS\n"
                       : "%s on %s: n %lld, ranks %d on %d cores, ms %.4f, GB/s %.2f, "
                         "speed-up %.2f, efficiency %.2f, cost %.3f ms, overhead %.4f ms, "
                         "PASS\n",
                   STEP, cpu, n, count, cores, ms, gb_per_s, speedup, speedup / count,
                   count * ms, overhead_ms);
            fflush(stdout);
        }
        if (rank < count)
            MPI_Comm_free(&ranks);
        if (status != EXIT_SUCCESS || count == most)
            break;
    }
    MPI_Finalize();
    return status;
}
