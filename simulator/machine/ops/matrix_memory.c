// matrix_memory.c: loads and stores matrix fragments.
#include "machine/ops/matrix.h"

#include <string.h>

// ---- wmma.load and wmma.store, which ptxas translates to several accesses of all lanes

typedef struct Placement { // of a matrix in memory
    Space space;
    uint64_t address, stride;
} Placement;

typedef struct Piece { // of a matrix, moved by one access: adjacent elements for each lane, starting at `from`
    uint32_t mask;
    int elements;
    Origin from[LANES];
} Piece;

static Space space_at(uint64_t *generic)
{
    const Space space = sim_space_at(*generic);
    *generic = sim_offset_of_generic(*generic);
    return space;
}

static Placement find_placement(Warp *w, const Instr *i)
{
    enum { STRIDE_BYTES = 16 }; // PTX requires a multiple of it; for other strides, a GPU silently uses another one
    const MatrixOperation *m = i->matrix;
    const Fragment *f = &m->d;
    Placement p = {.space = (Space)m->address.space, .address = sim_operand_address(w, &m->address, 0)};
    const uint32_t *strides = m->stride == NO_OFFSET ? NULL : (const uint32_t *)(w->registers + m->stride);
    for (int l = 1; l < LANES; l++)
        if (sim_operand_address(w, &m->address, l) != p.address || (strides && strides[l] != strides[0]))
            sim_fault(w, i, l, cudaErrorIllegalInstruction, "the lanes address different matrices");
    p.stride = strides ? strides[0] : m->lines_contiguous ? f->positions : f->lines;
    if (p.stride * f->bytes % STRIDE_BYTES)
        sim_fault(w, i, 0, cudaErrorMisalignedAddress,
                  "a matrix with a stride of %llu bytes, which is not a multiple of %d",
                  (unsigned long long)(p.stride * f->bytes), STRIDE_BYTES);
    if (p.space == GENERIC)
        p.space = space_at(&p.address);
    return p;
}

static uint32_t lanes_of_rows(int matrices) // a mask of the lanes that address the rows of these 8x8 matrices
{
    return ALL_LANES >> (LANES - CORE_SIZE * matrices);
}

// Translates, checks and counts one of an instruction's accesses. uses_ldmatrix: counts bank conflicts
// only, because Nsight Compute counts no shared loads or stores for ldmatrix and stmatrix.
static void access_lanes(Warp *w, const Instr *i, Access *access, bool uses_ldmatrix)
{
    access->alignment = access->bytes;
    sim_access(w, i, access);
    (uses_ldmatrix ? sim_count_conflicts : sim_count_access)(w, access);
}

// Translates and counts the access of a piece.
static Access find_piece(Warp *w, const Instr *i, const Placement *p, const Piece *piece, AccessKind kind)
{
    const MatrixOperation *m = i->matrix;
    Access access = {.kind = kind, .space = p->space, .mask = piece->mask};
    access.bytes = (size_t)(piece->elements * m->d.bytes);
    for (int l = 0; l < LANES; l++) {
        const uint64_t line = (uint64_t)piece->from[l].line, position = (uint64_t)piece->from[l].position;
        const uint64_t element = m->lines_contiguous ? line * p->stride + position : position * p->stride + line;
        access.address[l] = p->address + element * m->d.bytes;
    }
    access_lanes(w, i, &access, m->uses_ldmatrix);
    return access;
}

static void move_piece(Warp *w, const Instr *i, const Placement *p, const Piece *piece, Tile *tile,
                       AccessKind kind)
{
    const MatrixOperation *m = i->matrix;
    const int bytes = m->d.bytes, lines = m->lines_contiguous ? 0 : 1, positions = 1 - lines; // index steps between adjacent elements
    const Access access = find_piece(w, i, p, piece, kind);
    for (uint32_t rest = piece->mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const Origin from = piece->from[l];
        for (int k = 0; k < piece->elements; k++) {
            uint64_t *bits = &tile->bits[from.line + k * lines][from.position + k * positions];
            if (kind == ACCESS_READ)
                *bits = sim_read_bytes(access.pointer[l] + k * bytes, bytes);
            else
                sim_write_bytes(access.pointer[l] + k * bytes, *bits, bytes);
        }
    }
}

// Copies rows of 16-bit numbers to the registers: the four lanes that hold a row hold it contiguously.
static void load_rows_of_halves(Warp *w, const Fragment *f, int first, const Piece *row, const Access *access)
{
    for (uint32_t rest = row->mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        memcpy(w->registers + f->registers_at[first + l / CORE_SIZE] + l % CORE_SIZE * ROW_BYTES, access->pointer[l], ROW_BYTES);
    }
}

// Fills the registers beyond those of the pieces, which are copies.
static void repeat_registers(Warp *w, const Fragment *f)
{
    const int once = f->pieces * sim_registers_of_piece(f);
    for (int number = once; number < f->registers; number++)
        memcpy(w->registers + f->registers_at[number], w->registers + f->registers_at[number % once], LANES * f->register_bytes);
}

// Loads as ldmatrix does: rows of 16 bytes, up to four 8x8 matrices at a time, each row addressed by one lane.
static void load_by_rows(Warp *w, const Instr *i, const Placement *p)
{
    const MatrixOperation *m = i->matrix;
    const int max_matrices = m->d.bytes == 2 ? 4 : 2;
    const bool copies_rows = m->lines_contiguous && m->d.bytes == 2;
    Tile tile;
    for (int first = 0; first < m->d.pieces; first += max_matrices) {
        const int remaining = m->d.pieces - first, matrices = remaining < max_matrices ? remaining : max_matrices;
        Piece row = {.mask = lanes_of_rows(matrices), .elements = ROW_BYTES / m->d.bytes};
        for (int l = 0; l < LANES; l++) {
            row.from[l] = sim_origin_of(&m->d, first + l / CORE_SIZE % matrices);
            *(m->lines_contiguous ? &row.from[l].line : &row.from[l].position) += l % CORE_SIZE;
        }
        if (copies_rows) {
            const Access access = find_piece(w, i, p, &row, ACCESS_READ);
            load_rows_of_halves(w, &m->d, first, &row, &access);
        } else {
            move_piece(w, i, p, &row, &tile, ACCESS_READ);
        }
    }
    if (copies_rows)
        repeat_registers(w, &m->d);
    else
        sim_pack_tile(w, &m->d, &tile);
}

// Moves a contiguous piece between memory and each lane's registers.
static void move_whole_piece(Warp *w, const Fragment *f, int number, const Access *access)
{
    const int per_piece = sim_registers_of_piece(f), bytes = f->register_bytes;
    for (int k = 0; k < per_piece; k++) {
        uint8_t *registers = w->registers + f->registers_at[number * per_piece + k];
        for (int l = 0; l < LANES; l++) {
            uint8_t *memory = access->pointer[l] + k * bytes, *in_register = registers + l * bytes;
            if (access->kind == ACCESS_READ)
                sim_write_bytes(in_register, sim_read_bytes(memory, bytes), bytes);
            else
                sim_write_bytes(memory, sim_read_bytes(in_register, bytes), bytes);
        }
    }
}

// Moves contiguous pieces whole. Others: 16-bit numbers by pieces of the transposed matrix, as if followed by movmatrix, wider
// or narrower ones element by element.
static void move_by_pieces(Warp *w, const Instr *i, const Placement *p, Tile *tile, AccessKind kind)
{
    const MatrixOperation *m = i->matrix;
    const bool transposed = !m->lines_contiguous && m->d.bytes == 2;
    const int accesses = m->lines_contiguous || transposed ? 1 : m->d.piece_elements;
    for (int number = 0; number < m->d.pieces; number++)
        for (int k = 0; k < accesses; k++) {
            Piece piece = {.mask = ALL_LANES, .elements = m->d.piece_elements / accesses};
            const Origin origin = sim_origin_of(&m->d, number);
            for (int l = 0; l < LANES; l++) {
                const int across = l % 4 * m->d.piece_elements, line = transposed ? across : l / 4;
                const int position = transposed ? l / 4 : across;
                piece.from[l] = (Origin){origin.line + line, origin.position + position + k};
            }
            if (m->lines_contiguous) {
                const Access access = find_piece(w, i, p, &piece, kind);
                move_whole_piece(w, &m->d, number, &access);
            } else {
                move_piece(w, i, p, &piece, tile, kind);
            }
        }
}

static void load_wmma(Warp *w, const Instr *i)
{
    const MatrixOperation *m = i->matrix;
    const Placement p = find_placement(w, i);
    Tile tile;
    if (m->uses_ldmatrix) {
        load_by_rows(w, i, &p);
        return;
    }
    move_by_pieces(w, i, &p, &tile, ACCESS_READ);
    if (m->lines_contiguous)
        repeat_registers(w, &m->d);
    else
        sim_pack_tile(w, &m->d, &tile);
}

static void store_wmma(Warp *w, const Instr *i)
{
    const MatrixOperation *m = i->matrix;
    const Placement p = find_placement(w, i);
    Tile tile;
    if (!m->lines_contiguous)
        sim_unpack_tile(w, &m->d, &tile);
    move_by_pieces(w, i, &p, &tile, ACCESS_WRITE);
}

// ---- ldmatrix, stmatrix, movmatrix: 8x8 matrices of 16-bit numbers

typedef uint16_t Rows[LANES][CORE_SIZE]; // of up to four matrices

// Accesses the rows of the matrices: lane 8 k + r addresses row r of matrix k.
static Access access_rows(Warp *w, const Instr *i, AccessKind kind)
{
    const MatrixOperation *m = i->matrix;
    Access rows = {.kind = kind, .space = SHARED, .mask = lanes_of_rows(m->d.registers), .bytes = ROW_BYTES};
    for (int l = 0; l < LANES; l++) {
        rows.address[l] = sim_operand_address(w, &m->address, l);
        if (m->address.space == GENERIC && space_at(&rows.address[l]) != SHARED && rows.mask >> l & 1)
            sim_fault(w, i, l, cudaErrorIllegalAddress, "a row outside of shared memory");
    }
    access_lanes(w, i, &rows, true);
    return rows;
}

// Moves between registers and rows: lane l holds elements 2 (l % 4) and 2 (l % 4) + 1 of row l / 4, or, transposed, of
// column l / 4.
static void move_rows(Warp *w, const Fragment *f, bool transposed, Rows rows, bool to_registers)
{
    for (int k = 0; k < f->registers; k++)
        for (int l = 0; l < LANES; l++) {
            uint16_t *in_register = (uint16_t *)(w->registers + f->registers_at[k]) + 2 * l;
            for (int half = 0; half < 2; half++) {
                const int across = l % 4 * 2 + half, row = CORE_SIZE * k + (transposed ? across : l / 4);
                uint16_t *number = &rows[row][transposed ? l / 4 : across];
                *(to_registers ? &in_register[half] : number) = *(to_registers ? number : &in_register[half]);
            }
        }
}

static void load_rows(Warp *w, const Instr *i)
{
    Rows rows;
    const Access access = access_rows(w, i, ACCESS_READ);
    for (int l = 0; l < CORE_SIZE * i->matrix->d.registers; l++)
        for (int k = 0; k < CORE_SIZE; k++)
            rows[l][k] = (uint16_t)sim_read_bytes(access.pointer[l] + 2 * k, 2);
    move_rows(w, &i->matrix->d, i->matrix->transposed, rows, true);
}

static void store_rows(Warp *w, const Instr *i)
{
    Rows rows;
    const Access access = access_rows(w, i, ACCESS_WRITE);
    move_rows(w, &i->matrix->d, i->matrix->transposed, rows, false);
    for (int l = 0; l < CORE_SIZE * i->matrix->d.registers; l++)
        for (int k = 0; k < CORE_SIZE; k++)
            sim_write_bytes(access.pointer[l] + 2 * k, rows[l][k], 2);
}

void sim_transpose_matrix(Warp *w, const Instr *i, uint32_t mask)
{
    Rows rows;
    sim_require_all_lanes(w, i, mask);
    move_rows(w, &i->matrix->a, false, rows, false);
    move_rows(w, &i->matrix->d, true, rows, true);
}

void sim_load_matrix(Warp *w, const Instr *i, uint32_t mask)
{
    sim_require_all_lanes(w, i, mask);
    (i->matrix->d.lines ? load_wmma : load_rows)(w, i);
}

void sim_store_matrix(Warp *w, const Instr *i, uint32_t mask)
{
    sim_require_all_lanes(w, i, mask);
    (i->matrix->d.lines ? store_wmma : store_rows)(w, i);
}
