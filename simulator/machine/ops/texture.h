// texture.h: declarations shared by texture.c (handlers), texels.c and texture_decode.c.
#ifndef TEXTURE_H
#define TEXTURE_H

#include "machine/ops/ops.h"

enum { CHANNELS = 4, TEXTURE_SHAPES = 7, FACES = 6 };
enum { FRACTION_BITS = 8, ONE = 1 << FRACTION_BITS }; // a texel's filter weight is a fixed-point number

typedef struct TextureShape {
    const char *name;
    int dimensions; // of a layer or a face
    bool layered, cube;
    const char *coordinates; // letters as for sim_source, the layer first; the last of four coordinates is unused
} TextureShape;

extern const TextureShape sim_texture_shapes[TEXTURE_SHAPES]; // indexed by Instr.type

typedef struct Corners { // the 2, 4 or 8 texels that a filter combines, at index z * 4 + y * 2 + x
    uint32_t stored[8][CHANNELS];
    int weight[8]; // in units of 1/ONE
} Corners;

// ---- texels.c

// The bits that a lane gets for a channel of one texel, and of filtered texels, as a float.
uint32_t sim_channel_value(const TextureObject *o, uint32_t stored, int channel);
uint32_t sim_filter_channel(const TextureObject *o, const Corners *c, int channel);
// A channel of the border colour in the texel's format.
uint32_t sim_border_channel(const TextureObject *o, int channel);

#endif
