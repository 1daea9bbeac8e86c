// async.c: cp.async, copies to shared memory that go on by themselves.
#include "lanes.h"

#include <string.h>

// cp.async: `bytes` to shared memory, of which the first c come from device memory, the rest are 0.
void sim_copy_async(Warp *w, const Instr *i, uint32_t mask)
{
    Access from = {.kind = ACCESS_ASYNC_READ, .space = GLOBAL, .mask = mask, .bytes = i->bytes, .alignment = i->bytes};
    Access to = {.kind = ACCESS_ASYNC_WRITE, .space = SHARED, .mask = mask, .bytes = i->bytes, .alignment = i->bytes};
    const uint32_t *wanted = OPERAND(uint32_t, c);
    sim_find_addresses(w, i, from.address);
    for (int l = 0; l < LANES; l++)
        to.address[l] = i->target + (i->register_bytes == 8 ? OPERAND(uint64_t, d)[l] : OPERAND(uint32_t, d)[l]);
    sim_access(w, i, &to);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const uint32_t bytes = wanted[l] < i->bytes ? wanted[l] : i->bytes;
        memset(to.pointer[l], 0, i->bytes);
        if (bytes == 0)
            continue;
        const uint8_t *source = sim_access_lane(w, i, l, GLOBAL, from.address[l], bytes, i->bytes, ACCESS_ASYNC_READ);
        for (uint32_t k = 0; k < bytes; k++)
            to.pointer[l][k] = (uint8_t)sim_read_bytes(source + k, 1);
    }
    sim_count_async_load(w, &from);
}
