// matrix.h: what the matrix*.c share, which decode and run the tensor cores' instructions.
#ifndef MATRIX_H
#define MATRIX_H

#include "machine/ops/lanes.h"

enum { MOST_LINES = 32, MOST_POSITIONS = 32, MOST_REGISTERS = 8, STRIP = 8, ROW_BYTES = 16 };

// Which elements of a matrix each lane holds. Lines are the rows of A, the columns of B, and the rows of the sum;
// positions run along a line. A lane holds some pieces, of a few elements side by side. A piece of each lane makes
// a block of 8 lines: lane l has line l / 4, and there the piece l % 4.
typedef struct Fragment {
    Type type;
    uint8_t bytes, register_bytes; // of an element; of a register
    uint8_t lines, positions;
    uint8_t run;    // elements of a piece
    uint8_t pieces; // of a lane
    bool tall;      // blocks come two by two, one 8 lines below the other, else side by side
    uint8_t registers;
    uint32_t place[MOST_REGISTERS]; // of the registers, in a frame
} Fragment;

typedef struct MatrixOperation {
    Fragment d, a, b, c; // loads write d, stores read it
    uint8_t at_once;    // how many products are added before the sum is rounded
    bool saturate;
    Address address;
    uint32_t stride;    // from line to line in memory; NOWHERE: they follow each other
    bool along;         // the positions of a line lie side by side in memory, else the lines of a position
    bool by_rows;       // ptxas makes ldmatrix of it
    bool transposed;    // of ldmatrix and stmatrix
} MatrixOperation;

static inline int sim_registers_of_piece(const Fragment *f)
{
    return f->run * f->bytes / f->register_bytes;
}

typedef struct Corner {
    int line, position;
} Corner;

// Where the block begins that the lanes' pieces of this number make.
static inline Corner sim_corner_of(const Fragment *f, int piece)
{
    const int width = 4 * f->run, across = f->positions / width;
    if (!f->tall || f->lines < 2 * STRIP)
        return (Corner){STRIP * (piece / across), width * (piece % across)};
    const int pair = 2 * across, in_pair = piece % pair; // 16 lines, from edge to edge
    return (Corner){2 * STRIP * (piece / pair) + STRIP * (in_pair % 2), width * (in_pair / 2)};
}

typedef struct Tile { // the elements of a matrix
    uint64_t bits[MOST_LINES][MOST_POSITIONS];
} Tile;

void sim_gather_tile(const Warp *w, const Fragment *f, Tile *tile);  // the lanes' registers to a tile
void sim_scatter_tile(Warp *w, const Fragment *f, Tile *tile); // a tile to the lanes' registers
void sim_need_all_lanes(Warp *w, const Instr *i, uint32_t mask); // ends the launch where some are not in the mask

Handler sim_multiply_matrices, sim_transpose_matrix;

// matrix_whole.c: the product of matrices of small whole numbers; false, and nothing is done, where they are others.
bool sim_multiply_whole_numbers(Warp *w, const MatrixOperation *m);

#endif
