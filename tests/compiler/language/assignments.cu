// An assignment is an lvalue, and its left operand is evaluated once.
struct Pair { int a, b; };

constexpr int count_of_steps()
{
    int values[4] = {0, 0, 0, 0}, i = 0;
    (values[i++] += 2) += 3;
    return 10 * values[0] + i;
}

KERNEL(k1)
{
    INDEX;
    int values[8] = {1, 2, 3, 4, 5, 6, 7, 8}, at = 0, j = tid & 1;
    ++ ++at;
    (values[at++] += in[i]) *= 3;
    values[j++] = values[at++] = tid;
    int &last = (values[at++] = 7);
    last += j;
    const int kept = values[--at] -= 2;
    Pair pairs[2] = {{1, 2}, {3, 4}}, other = {tid, 5};
    j = 0;
    (pairs[j++] = other).b += 6;
    constexpr int steps = count_of_steps();
    int sum = kept + 100 * at + 1000 * j + steps;
    for (int k = 0; k < 8; k++)
        sum = sum * 3 + values[k];
    out[i] = sum;
    out[i + 128] = pairs[0].a + pairs[0].b + 10 * pairs[1].a + pairs[1].b;
}
