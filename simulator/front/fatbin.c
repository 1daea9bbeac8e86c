// fatbin.c: extracts PTX from the fat binary that nvcc embeds in a program.
//
// Format, with offsets in bytes. Header: magic number at 0, header size at 6, total size of the entries at 8. Entries follow
// each other: kind at 0, header size at 4, payload size at 8, compressed payload size at 16 (0: uncompressed).
#include "front/program.h"

#include <string.h>

static const uint32_t MAGIC = 0xba55ed50;
enum { HEADER_BYTES = 16, ENTRY_BYTES = 20, COMPRESSED_SIZE_AT = 16, KIND_PTX = 1 };

static uint64_t number_at(const uint8_t *data, int bytes)
{
    uint64_t value = 0;
    memcpy(&value, data, bytes); // the host is little-endian, like the format
    return value;
}

int sim_extract_ptx(const void *data, size_t size, Arena *arena, const char **texts, int max_count,
                     const char **why)
{
    const uint8_t *bytes = data;
    if (size < HEADER_BYTES || number_at(bytes, 4) != MAGIC) {
        *why = "it does not begin with a fat binary's magic number";
        return -1;
    }
    uint64_t at = number_at(bytes + 6, 2), payload = number_at(bytes + 8, 8);
    if (at < HEADER_BYTES || at > size || payload > size - at) {
        *why = "it is shorter than its header says";
        return -1;
    }
    const uint64_t end = at + payload;
    int count = 0;
    while (at < end && count < max_count) {
        if (end - at < ENTRY_BYTES) {
            *why = "an entry is cut off";
            return -1;
        }
        const uint64_t kind = number_at(bytes + at, 2), header = number_at(bytes + at + 4, 4),
                       length = number_at(bytes + at + 8, 8);
        if (header < ENTRY_BYTES || header > end - at || length > end - at - header) {
            *why = "an entry is longer than the fat binary";
            return -1;
        }
        if (kind == KIND_PTX) {
            if (number_at(bytes + at + COMPRESSED_SIZE_AT, 4) != 0) {
                *why = "its PTX is compressed: build the program with nvcc --no-compress";
                return -1;
            }
            char *text = sim_allocate(arena, length + 1);
            memcpy(text, bytes + at + header, length);
            texts[count++] = text;
        }
        at += header + length;
    }
    return count;
}
