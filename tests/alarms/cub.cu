// cub.cu: algorithms of CUB, each compared with the host. The checker must report nothing, except the findings in explained.csv.
#include <cub/cub.cuh>

#include <algorithm>
#include <numeric>
#include <vector>

#include "../programs/check.h"

using Values = std::vector<int>;

static unsigned seed = 1;

// Numbers from 0 to below - 1: so few that some are equal.
static Values some(int n, int below = 1000)
{
    Values values(n);
    for (int &value : values)
        value = (seed = seed * 1664525 + 1013904223) / 65536 % below;
    return values;
}

struct Array { // on the device
    int *data;
    int size;
    explicit Array(int n) : size(n) { CUDA(cudaMalloc(&data, n * sizeof(int))); }
    explicit Array(const Values &values) : Array((int)values.size())
    {
        CUDA(cudaMemcpy(data, values.data(), size * sizeof(int), cudaMemcpyHostToDevice));
    }
    Array(const Array &) = delete;
    ~Array() { CUDA(cudaFree(data)); }
    Values first(int count) const
    {
        Values copy(count);
        CUDA(cudaMemcpy(copy.data(), data, count * sizeof(int), cudaMemcpyDeviceToHost));
        return copy;
    }
    Values values() const { return first(size); }
};

// Calls an algorithm of CUB twice: for the size of its temporary storage, then to run.
template <class Algorithm> static void run(Algorithm algorithm)
{
    size_t bytes = 0;
    void *memory = nullptr;
    CUDA(algorithm(memory, bytes));
    CUDA(cudaMalloc(&memory, bytes));
    CUDA(algorithm(memory, bytes));
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaFree(memory));
}

static void reduce(int n)
{
    const Values values = some(n);
    const Array in(values), sum(1), most(1);
    run([&](void *memory, size_t &bytes) { return cub::DeviceReduce::Sum(memory, bytes, in.data, sum.data, n); });
    run([&](void *memory, size_t &bytes) { return cub::DeviceReduce::Max(memory, bytes, in.data, most.data, n); });
    CHECK(sum.values()[0] == std::accumulate(values.begin(), values.end(), 0));
    CHECK(most.values()[0] == *std::max_element(values.begin(), values.end()));
}

static void scan(int n)
{
    const Values values = some(n);
    const Array in(values), inclusive(n), exclusive(n);
    run([&](void *memory, size_t &bytes) { return cub::DeviceScan::InclusiveSum(memory, bytes, in.data, inclusive.data, n); });
    run([&](void *memory, size_t &bytes) { return cub::DeviceScan::ExclusiveSum(memory, bytes, in.data, exclusive.data, n); });
    Values expected(n);
    std::partial_sum(values.begin(), values.end(), expected.begin());
    CHECK(inclusive.values() == expected);
    for (int i = 0; i < n; i++)
        expected[i] -= values[i];
    CHECK(exclusive.values() == expected);
}

static void radix_sort(int n)
{
    const Values keys = some(n), values = some(n);
    const Array keys_in(keys), values_in(values), sorted(n), keys_out(n), values_out(n);
    run([&](void *memory, size_t &bytes) { return cub::DeviceRadixSort::SortKeys(memory, bytes, keys_in.data, sorted.data, n); });
    run([&](void *memory, size_t &bytes) {
        return cub::DeviceRadixSort::SortPairs(memory, bytes, keys_in.data, keys_out.data, values_in.data, values_out.data, n);
    });
    Values order(n), expected_keys(n), expected_values(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
    for (int i = 0; i < n; i++) {
        expected_keys[i] = keys[order[i]];
        expected_values[i] = values[order[i]];
    }
    CHECK(sorted.values() == expected_keys && keys_out.values() == expected_keys && values_out.values() == expected_values);
}

struct IsOdd {
    __host__ __device__ bool operator()(int x) const { return x % 2 == 1; }
};

static void select(int n)
{
    const Values values = some(n, 5), flags = some(n, 2);
    const Array in(values), wanted(flags), out(n), count(1);
    Values expected;
    const auto is_right = [&] { return out.first(count.values()[0]) == expected; };
    run([&](void *memory, size_t &bytes) { return cub::DeviceSelect::If(memory, bytes, in.data, out.data, count.data, n, IsOdd()); });
    std::copy_if(values.begin(), values.end(), std::back_inserter(expected), IsOdd());
    CHECK(is_right());
    run([&](void *memory, size_t &bytes) {
        return cub::DeviceSelect::Flagged(memory, bytes, in.data, wanted.data, out.data, count.data, n);
    });
    expected.clear();
    for (int i = 0; i < n; i++)
        if (flags[i])
            expected.push_back(values[i]);
    CHECK(is_right());
    run([&](void *memory, size_t &bytes) { return cub::DeviceSelect::Unique(memory, bytes, in.data, out.data, count.data, n); });
    expected = values;
    expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
    CHECK(is_right());
}

static void segmented_reduce(int n)
{
    const int segments = n / 7 + 1;
    const Values values = some(n);
    Values begins = some(segments - 1, n + 1); // begins of the segments except the first; some segments are empty
    begins.push_back(0);
    begins.push_back(n);
    std::sort(begins.begin(), begins.end());
    const Array in(values), offsets(begins), sums(segments);
    run([&](void *memory, size_t &bytes) {
        return cub::DeviceSegmentedReduce::Sum(memory, bytes, in.data, sums.data, segments, offsets.data, offsets.data + 1);
    });
    const Values found = sums.values();
    for (int k = 0; k < segments; k++)
        CHECK(found[k] == std::accumulate(values.begin() + begins[k], values.begin() + begins[k + 1], 0));
}

static void histogram(int n)
{
    enum { BINS = 50, BELOW = 1000 };
    const Values values = some(n, BELOW);
    const Array in(values), counts(BINS);
    run([&](void *memory, size_t &bytes) {
        return cub::DeviceHistogram::HistogramEven(memory, bytes, in.data, counts.data, BINS + 1, 0, (int)BELOW, n);
    });
    Values expected(BINS);
    for (int value : values)
        expected[value / (BELOW / BINS)]++;
    CHECK(counts.values() == expected);
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 10007;
    CHECK(n > 0);
    reduce(n);
    scan(n);
    radix_sort(n);
    select(n);
    segmented_reduce(n);
    histogram(n);
    printf("PASS\n");
}
