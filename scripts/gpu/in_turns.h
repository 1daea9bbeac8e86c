// in_turns.h: the sizes, and the mean, of the two programs that run CUB and our last steps in turns. What each allocates
// stays with it: it fills the Data of its own ladder's harness, and the two have other members.
#ifndef IN_TURNS_H
#define IN_TURNS_H

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

// A size from the command line, or 0 where it is none.
static long long parsed(const std::string &text)
{
    const bool digits = text.find_first_not_of("0123456789") == std::string::npos && text.size() < 12;
    return digits ? strtoll(text.c_str(), nullptr, 10) : 0;
}

// The sizes that the arguments name, or the usual ones where there are none. Ends the program where one is no size.
static std::vector<long long> asked_sizes(int argc, char **argv, const std::vector<long long> &usual)
{
    std::vector<long long> sizes;
    for (int k = 1; k < argc; k++)
        sizes.push_back(parsed(argv[k]));
    if (std::count(sizes.begin(), sizes.end(), 0)) {
        fprintf(stderr, "%s: a size is no number of 1 or more; usage: %s [ELEMENTS...]\n", argv[0], argv[0]);
        exit(2);
    }
    return sizes.empty() ? usual : sizes;
}

// The mean of the middle half: for the shortest times it tells more than the median, which moves by whole ticks of the
// clock.
static double middle_mean(std::vector<float> ms)
{
    std::sort(ms.begin(), ms.end());
    const size_t quarter = ms.size() / 4;
    double sum = 0;
    for (size_t run = quarter; run < ms.size() - quarter; run++)
        sum += ms[run];
    return sum / (ms.size() - 2 * quarter);
}

#endif
