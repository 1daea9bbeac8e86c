// thrust.cu: algorithms of Thrust, each compared with the host. The checker must report nothing, except the findings in explained.csv.
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/unique.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "../programs/check.h"

using Values = std::vector<int>;
using OnDevice = thrust::device_vector<int>;

static unsigned seed = 1;

// Numbers from 0 to below - 1: so few that some are equal.
static Values some(int n, int below = 1000)
{
    Values values(n);
    for (int &value : values)
        value = (seed = seed * 1664525 + 1013904223) / 65536 % below;
    return values;
}

static Values on_host(const OnDevice &values)
{
    Values copy(values.size());
    thrust::copy(values.begin(), values.end(), copy.begin());
    return copy;
}

struct IsOdd {
    __host__ __device__ bool operator()(int x) const { return x % 2 == 1; }
};

struct LastDigit { // a user-defined order, for which Thrust uses a merge sort
    __host__ __device__ bool operator()(int a, int b) const { return a % 10 < b % 10; }
};

static void reduce_and_scan(int n)
{
    Values values = some(n);
    const OnDevice in = values;
    CHECK(thrust::reduce(in.begin(), in.end()) == std::accumulate(values.begin(), values.end(), 0));
    OnDevice sums(n);
    thrust::inclusive_scan(in.begin(), in.end(), sums.begin());
    std::partial_sum(values.begin(), values.end(), values.begin());
    CHECK(on_host(sums) == values);
}

static void sort(int n)
{
    Values values = some(n);
    OnDevice by_radix = values, descending = values;
    thrust::sort(by_radix.begin(), by_radix.end());
    thrust::sort(descending.begin(), descending.end(), thrust::greater<int>());
    std::sort(values.begin(), values.end());
    CHECK(on_host(by_radix) == values);
    std::reverse(values.begin(), values.end());
    CHECK(on_host(descending) == values);
}

static void stable_sort_by_key(int n)
{
    const Values keys = some(n);
    Values order(n);
    std::iota(order.begin(), order.end(), 0);
    OnDevice keys_there = keys, places = order;
    thrust::stable_sort_by_key(keys_there.begin(), keys_there.end(), places.begin(), LastDigit());
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return LastDigit()(keys[a], keys[b]); });
    CHECK(on_host(places) == order);
    for (int &place : order)
        place = keys[place];
    CHECK(on_host(keys_there) == order);
}

static void reduce_by_key(int n)
{
    const Values keys = some(n, 5), values = some(n);
    const OnDevice in_keys = keys, in_values = values;
    OnDevice out_keys(n), sums(n);
    const auto ends = thrust::reduce_by_key(in_keys.begin(), in_keys.end(), in_values.begin(), out_keys.begin(), sums.begin());
    out_keys.resize(ends.first - out_keys.begin());
    sums.resize(ends.second - sums.begin());
    Values expected_keys, expected;
    for (int i = 0; i < n; i++) {
        if (i == 0 || keys[i] != keys[i - 1]) {
            expected_keys.push_back(keys[i]);
            expected.push_back(0);
        }
        expected.back() += values[i];
    }
    CHECK(on_host(out_keys) == expected_keys && on_host(sums) == expected);
}

static void select(int n)
{
    Values values = some(n, 5), expected;
    OnDevice there = values, odd(n);
    odd.resize(thrust::copy_if(there.begin(), there.end(), odd.begin(), IsOdd()) - odd.begin());
    std::copy_if(values.begin(), values.end(), std::back_inserter(expected), IsOdd());
    CHECK(on_host(odd) == expected);
    OnDevice even = values;
    even.resize(thrust::remove_if(even.begin(), even.end(), IsOdd()) - even.begin());
    expected = values;
    expected.resize(std::remove_if(expected.begin(), expected.end(), IsOdd()) - expected.begin());
    CHECK(on_host(even) == expected);
    there.resize(thrust::unique(there.begin(), there.end()) - there.begin());
    values.resize(std::unique(values.begin(), values.end()) - values.begin());
    CHECK(on_host(there) == values);
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 10007;
    CHECK(n > 0);
    reduce_and_scan(n);
    sort(n);
    stable_sort_by_key(n);
    reduce_by_key(n);
    select(n);
    printf("PASS\n");
}
