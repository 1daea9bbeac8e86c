// matrix.h: shared by the files matrix*.c, which decode and execute the instructions of tensor cores.
#ifndef MATRIX_H
#define MATRIX_H

#include "machine/ops/lanes.h"

enum { MAX_LINES = 32, MAX_POSITIONS = 32, MAX_REGISTERS = 8, CORE_SIZE = 8, ROW_BYTES = 16 };

// Which elements of a matrix each lane holds. A line is a row of A, C or D, or a column of B; a position is an index in a line.
// A lane holds pieces of piece_elements adjacent elements. One piece of every lane forms a tile of 8 lines: lane l holds piece
// l % 4 of line l / 4.
typedef struct Fragment {
    Type type;
    uint8_t bytes, register_bytes; // of an element; of a register
    uint8_t lines, positions;
    uint8_t piece_elements; // elements of a piece
    uint8_t pieces;         // of each lane
    bool stacked;           // consecutive tiles alternate between the upper and lower half of 16 lines; false: tiles go along the lines
    uint8_t registers;
    uint32_t registers_at[MAX_REGISTERS]; // frame offsets of the registers
} Fragment;

typedef struct MatrixOperation {
    Fragment d, a, b, c;      // loads write d, stores read it
    uint8_t products_at_once; // products added before the sum is rounded
    bool saturate;
    Address address;
    uint32_t stride;       // between lines in memory; NO_OFFSET: contiguous
    bool lines_contiguous; // the elements of a line are contiguous in memory; false: those at the same position are
    bool uses_ldmatrix;    // ptxas translates this load to ldmatrix
    bool transposed;       // ldmatrix and stmatrix
} MatrixOperation;

static inline int sim_registers_of_piece(const Fragment *f)
{
    return f->piece_elements * f->bytes / f->register_bytes;
}

typedef struct Origin {
    int line, position;
} Origin;

// The first element of the tile that the lanes' pieces with this index form.
static inline Origin sim_origin_of(const Fragment *f, int piece)
{
    const int width = 4 * f->piece_elements, across = f->positions / width;
    if (!f->stacked || f->lines < 2 * CORE_SIZE)
        return (Origin){CORE_SIZE * (piece / across), width * (piece % across)};
    const int pair = 2 * across, in_pair = piece % pair; // the tiles of 16 lines, over the whole width
    return (Origin){2 * CORE_SIZE * (piece / pair) + CORE_SIZE * (in_pair % 2), width * (in_pair / 2)};
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
