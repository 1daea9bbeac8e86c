// Included by against_cub in each program's namespace, behind the program.

// Times one run of this program over the memory that CUB's program has; the sum has to be expected.
static std::function<float()> beside(const cub_sum::Data &data, long long expected)
{
    const auto own = std::make_shared<Data>(Data{data.n, data.flush_count, data.busy_cycles, 1, data.in, data.scratch, data.flush,
                                                 data.flush_blocks, 0, data.start, data.stop, {}});
    return [own, expected] { return timed_run(own.get(), own->in, expected); };
}
