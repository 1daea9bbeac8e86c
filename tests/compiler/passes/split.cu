// split: an array or a struct whose elements are accessed at constant places becomes a variable for each of them, and then values.
// with: promote spaces
struct Pair {
    int first, second;
};

__global__ void swap(Pair *pairs)
{
    Pair both[2] = {pairs[0], pairs[1]};
    pairs[0] = both[1];
    pairs[1] = both[0];
}
