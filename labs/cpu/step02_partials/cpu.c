// Lab cpu, step 02: partial sums in an array. What reduction does, written by hand.
// The change: each thread adds to an element of its own; one thread adds these up.
// Build and run: cc -O3 -march=native -fopenmp -o cpu cpu.c && ./cpu

#include <omp.h>

static const char STEP[] = "step02_partials";

enum { MAX_THREADS = 256 };

// The sum of in[0 .. n).
static float reduce(const float *in, long long n)
{
    float sums[MAX_THREADS] = {0};
#pragma omp parallel
    {
        const int thread = omp_get_thread_num();
#pragma omp for
        for (long long i = 0; i < n; i++)
            sums[thread] += in[i];
    }
    float sum = 0;
    for (int thread = 0; thread < omp_get_max_threads(); thread++)
        sum += sums[thread];
    return sum;
}

// ==== Harness: the same in every step of this lab from here on; the lesson is above. ====

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BAD_ARGUMENT = 2, MIN_RUNS = 3, MAX_RUNS = 51, ENOUGH_MS = 500 };
enum { COPIES = 4 };          // of the array in memory; the runs use them in rotation
enum { PERIOD = 2 * 500009 }; // of the data; no vector and no thread's part divides it
static const long long MAX_ELEMENTS = 1ll << 32;

static float values[PERIOD];             // one period of the data
static long long first_sums[PERIOD + 1]; // of its first 0, 1, ... elements, in sixteenths

struct data {
    long long n;
    float *in;                  // COPIES times n elements, and one more after each copy
    long long expected[COPIES]; // their sums, in sixteenths
};

static void parse_arguments(int argc, char **argv, long long *n, bool *csv)
{
    for (int i = 1; i < argc; i++) {
        const bool digits = strspn(argv[i], "0123456789") == strlen(argv[i]);
        const long long count = digits ? strtoll(argv[i], NULL, 10) : 0;
        if (strcmp(argv[i], "--csv") == 0) {
            *csv = true;
        } else if (*n == 0 && count >= 1 && count <= MAX_ELEMENTS) {
            *n = count;
        } else {
            fprintf(stderr,
                    "unusable argument '%s': accepted are --csv, SIZE (1 to %lld)\n",
                    argv[i], MAX_ELEMENTS);
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

// All copies of the array. Their middle elements differ, so that their sums differ even if
// n is a multiple of the period, and the sum of the previous run is wrong in the next one.
static struct data make_data(long long n)
{
    struct data d = {.n = n};
    const long long all = COPIES * (n + 1);
    d.in = malloc(all * sizeof(float));
    if (d.in == NULL) {
        fprintf(stderr, "%lld elements, %d times, do not fit in memory\n", n, COPIES);
        exit(BAD_ARGUMENT);
    }
    // First touch places a page near the writing core: this spreads pages over all sockets.
#pragma omp parallel for schedule(static, 1)
    for (long long i = 0; i < all; i += PERIOD)
        memcpy(d.in + i, values, (all - i < PERIOD ? all - i : PERIOD) * sizeof(float));
    for (int copy = 0; copy < COPIES; copy++) {
        const long long begin = copy * (n + 1), middle = begin + n / 2;
        d.expected[copy] = first_sums[(begin + n) % PERIOD] - first_sums[begin % PERIOD] +
                           17 + copy - (long long)(16 * d.in[middle]);
        d.in[middle] = (17 + copy) / 16.0f;
    }
    return d;
}

// Measures the memory bandwidth: reads one element of each 64 bytes, so that the memory
// delivers the whole array with few additions. Not the sum of the array.
static float read_lines(const float *in, long long n)
{
    float sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (long long i = 0; i < n; i += 16)
        sum += in[i];
    return sum;
}

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

// The median of the timed runs, in ms. Every run of reduce is checked.
static double median_ms(const struct data *d, float (*add)(const float *, long long))
{
    double ms[MAX_RUNS], total_ms = 0;
    int run = -1; // the first run is a warm-up
    for (; run < MIN_RUNS || (run < MAX_RUNS && total_ms < ENOUGH_MS); run++) {
        const int copy = (run + COPIES) % COPIES;
        const double start = omp_get_wtime();
        const float sum = add(d->in + copy * (d->n + 1), d->n);
        const double took_ms = 1e3 * (omp_get_wtime() - start);
        if (add == reduce && 16.0 * sum != d->expected[copy]) {
            fprintf(stderr,
                    "FAIL: the sum of %lld elements by %d threads is %.4f, "
                    "expected %.4f\n",
                    d->n, omp_get_max_threads(), sum, d->expected[copy] / 16.0);
            exit(EXIT_FAILURE);
        }
        if (run >= 0)
            total_ms += ms[run] = took_ms;
    }
    qsort(ms, run, sizeof ms[0], compare);
    return (ms[(run - 1) / 2] + ms[run / 2]) / 2;
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
    parse_arguments(argc, argv, &n, &csv);
    char cpu[64];
    find_cpu_name(cpu);
    omp_set_dynamic(0); // exactly as many threads as requested
    const int cores = omp_get_num_procs(), limit = omp_get_thread_limit();
    int most = omp_get_max_threads(); // the cores, or OMP_NUM_THREADS
    most = most < limit ? most : limit;
    make_values();
    const struct data d = make_data(n);

    if (csv)
        printf("step,device,elements,threads,cores,median_ms,gb_per_s,read_gb_per_s,"
               "speedup,efficiency,cost_ms,overhead_ms,status\n");
    most = most < MAX_THREADS ? most : MAX_THREADS;
    double one_ms = 0; // of one thread
    for (int threads = 1;; threads = 2 * threads < most ? 2 * threads : most) {
        omp_set_num_threads(threads);
        struct data few = make_data(threads); // one element per thread: overhead
        const double ms = median_ms(&d, reduce), read_ms = median_ms(&d, read_lines);
        const double overhead_ms = median_ms(&few, reduce);
        free(few.in);
        one_ms = threads == 1 ? ms : one_ms;
        const double bytes = n * sizeof(float), speedup = one_ms / ms;
        if (!csv && threads > cores)
            printf("more threads than cores: they share cores\n");
        printf(
            csv ? "%s,%s,%lld,%d,%d,%.6f,%.3f,%.3f,%.3f,%.3f,%.6f,%.6f,PASS\n"
                : "%s on %s: n %lld, threads %d on %d cores, ms %.4f, GB/s %.2f of %.2f, "
                  "speed-up %.2f, efficiency %.2f, cost %.3f ms, overhead %.4f ms, PASS\n",
            STEP, cpu, n, threads, cores, ms, bytes / ms / 1e6, bytes / read_ms / 1e6,
            speedup, speedup / threads, threads * ms, overhead_ms);
        fflush(stdout);
        if (threads == most)
            break;
    }
    free(d.in);
}
