// matrix.h: declarations shared by the files matrix*.c, which decode and execute tensor-core instructions.
#ifndef MATRIX_H
#define MATRIX_H

#include "machine/ops/lanes.h"

enum { MAX_LINES = 32, MAX_POSITIONS = 32, MAX_REGISTERS = 8, CORE_SIZE = 8, ROW_BYTES = 16 };

// The elements of a matrix that each lane holds. A line is a row of A, C or D, or a column of B; a position is an index in a
// line. A lane holds chunks of chunk_elements adjacent elements. One chunk of every lane forms a tile of 8 lines: lane l holds
// chunk l % 4 of line l / 4.
typedef struct Fragment {
    Type type;
    uint8_t bytes, register_bytes; // of an element; of a register
    uint8_t lines, positions;
    uint8_t chunk_elements; // elements of a chunk
    uint8_t chunks;         // number of chunks in each lane
    bool stacked;           // consecutive tiles alternate between the upper and lower half of 16 lines, else follow the lines
    uint8_t registers;
    uint32_t register_offsets[MAX_REGISTERS]; // in the frame
} Fragment;

typedef struct MatrixOperation {
    Fragment d, a, b, c;      // loads write d; stores read it
    uint8_t products_per_rounding; // number of products that are added before the sum is rounded
    bool saturate;
    Address address;
    uint32_t stride;       // frame offset of the operand with the stride; NO_OFFSET: contiguous
    bool lines_contiguous; // in memory, the elements of a line are contiguous; if false, those at a position are
    bool uses_ldmatrix;    // ptxas translates this load to ldmatrix
    bool transposed;       // by ldmatrix or stmatrix
} MatrixOperation;

static inline int sim_registers_per_chunk(const Fragment *f)
{
    return f->chunk_elements * f->bytes / f->register_bytes;
}

typedef struct Origin {
    int line, position;
} Origin;

// The first element of the tile that consists of the lanes' chunks with this index.
static inline Origin sim_origin_of(const Fragment *f, int chunk)
{
    const int width = 4 * f->chunk_elements, tiles_per_row = f->positions / width;
    if (!f->stacked || f->lines < 2 * CORE_SIZE)
        return (Origin){CORE_SIZE * (chunk / tiles_per_row), width * (chunk % tiles_per_row)};
    const int pair = 2 * tiles_per_row, in_pair = chunk % pair; // `pair` tiles cover 16 lines
    return (Origin){2 * CORE_SIZE * (chunk / pair) + CORE_SIZE * (in_pair % 2), width * (in_pair / 2)};
}

typedef struct Tile {
    uint64_t bits[MAX_LINES][MAX_POSITIONS];
} Tile;

void sim_unpack_tile(const Warp *w, const Fragment *f, Tile *tile);  // registers to tile
void sim_pack_tile(Warp *w, const Fragment *f, Tile *tile); // tile to registers
void sim_require_all_lanes(Warp *w, const Instr *i, uint32_t mask); // ends the launch if a live lane is not in the mask

Handler sim_multiply_matrices, sim_transpose_matrix;

// matrix_integers.c: multiplies matrices of small integers; false, without effect, for other values.
bool sim_multiply_small_integers(Warp *w, const MatrixOperation *m);

#endif
