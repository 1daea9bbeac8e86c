// interleaved.h: array sizes and the mean, for the programs that interleave the runs of several implementations.
#ifndef INTERLEAVED_H
#define INTERLEAVED_H

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

// A size from the command line, or 0 if the text is not a valid size.
static long long parsed(const std::string &text)
{
    const bool digits = text.find_first_not_of("0123456789") == std::string::npos && text.size() < 12;
    return digits ? strtoll(text.c_str(), nullptr, 10) : 0;
}

// The sizes in the arguments, or the default sizes if there are none. Exits with status 2 if an argument is not a valid size.
static std::vector<long long> sizes_from_arguments(int argc, char **argv, const std::vector<long long> &default_sizes)
{
    std::vector<long long> sizes;
    for (int k = 1; k < argc; k++)
        sizes.push_back(parsed(argv[k]));
    if (std::count(sizes.begin(), sizes.end(), 0)) {
        fprintf(stderr, "%s: a size must be a number from 1 on; usage: %s [ELEMENTS...]\n", argv[0], argv[0]);
        exit(2);
    }
    return sizes.empty() ? default_sizes : sizes;
}

// The interquartile mean: for short times it is more precise than the median, which is a multiple of the clock's resolution.
static double interquartile_mean(std::vector<float> ms)
{
    std::sort(ms.begin(), ms.end());
    const size_t quarter = ms.size() / 4;
    double sum = 0;
    for (size_t run = quarter; run < ms.size() - quarter; run++)
        sum += ms[run];
    return sum / (ms.size() - 2 * quarter);
}

#endif
