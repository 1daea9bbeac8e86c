// Included in each program's namespace by against_cub and begins, after the program.

// Returns a function that times one run of this program on the memory of CUB's program and checks the sum against expected.
static std::function<float()> beside(const cub_sum::Data &data, long long expected)
{
    const auto own = std::make_shared<Data>(Data{data.n, data.flush_count, data.busy_cycles, 1, data.in, data.scratch, data.flush,
                                                 data.flush_blocks, 0, data.start, data.stop, {}});
    return [own, expected] { return timed_run(own.get(), own->in, expected); };
}
