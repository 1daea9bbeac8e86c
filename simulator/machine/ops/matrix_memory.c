// matrix_memory.c: loads and stores matrix fragments.
#include "machine/ops/matrix.h"

#include <string.h>

// ---- wmma.load and wmma.store, which ptxas translates to several accesses of all lanes

typedef struct MemoryMatrix { // address and stride of a matrix in memory
    Space space;
    uint64_t address, stride;
} MemoryMatrix;

typedef struct ChunkAccess { // one access to a matrix: each lane accesses `elements` adjacent elements, starting at `from`
    uint32_t mask;
    int elements;
    Origin from[LANES];
} ChunkAccess;

static Space space_at(uint64_t *generic)
{
    const Space space = sim_space_at(*generic);
    *generic = sim_offset_of_generic(*generic);
    return space;
}

static MemoryMatrix find_matrix(Warp *w, const Instr *i)
{
    enum { STRIDE_BYTES = 16 }; // PTX requires a multiple of it; otherwise a GPU silently uses another stride
    const MatrixOperation *m = i->matrix;
    const Fragment *f = &m->d;
    MemoryMatrix p = {.space = (Space)m->address.space, .address = sim_operand_address(w, &m->address, 0)};
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

static uint32_t lanes_of_rows(int matrices) // mask of the lanes that address the rows of 8x8 matrices
{
    return ALL_LANES >> (LANES - CORE_SIZE * matrices);
}

// Translates, checks and counts one of an instruction's accesses. uses_ldmatrix: counts only bank conflicts, because Nsight
// Compute counts no shared loads or stores for ldmatrix and stmatrix; with SIM_ATOMIC_LOADS they count.
static void access_lanes(Warp *w, const Instr *i, Access *access, bool uses_ldmatrix)
{
    access->alignment = access->bytes;
    sim_access(w, i, access);
    (uses_ldmatrix && !sim_settings()->counts_atomic_loads ? sim_count_conflicts : sim_count_access)(w, access);
}

// Translates and counts a chunk access.
static Access translate_chunk(Warp *w, const Instr *i, const MemoryMatrix *p, const ChunkAccess *chunk, AccessKind kind)
{
    const MatrixOperation *m = i->matrix;
    Access access = {.kind = kind, .space = p->space, .mask = chunk->mask};
    access.bytes = (size_t)(chunk->elements * m->d.bytes);
    for (int l = 0; l < LANES; l++) {
        const uint64_t line = (uint64_t)chunk->from[l].line, position = (uint64_t)chunk->from[l].position;
        const uint64_t element = m->lines_contiguous ? line * p->stride + position : position * p->stride + line;
        access.address[l] = p->address + element * m->d.bytes;
    }
    access_lanes(w, i, &access, m->uses_ldmatrix);
    return access;
}

static void transfer_elements(Warp *w, const Instr *i, const MemoryMatrix *p, const ChunkAccess *chunk, Tile *tile,
                       AccessKind kind)
{
    const MatrixOperation *m = i->matrix;
    const int bytes = m->d.bytes, lines = m->lines_contiguous ? 0 : 1, positions = 1 - lines; // index steps between adjacent elements
    const Access access = translate_chunk(w, i, p, chunk, kind);
    for (uint32_t rest = chunk->mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const Origin from = chunk->from[l];
        for (int k = 0; k < chunk->elements; k++) {
            uint64_t *bits = &tile->bits[from.line + k * lines][from.position + k * positions];
            if (kind == ACCESS_READ)
                *bits = sim_read_bytes(access.pointer[l] + k * bytes, bytes);
            else
                sim_write_bytes(access.pointer[l] + k * bytes, *bits, bytes);
        }
    }
}

// Copies rows of 16-bit numbers to the registers. A row is contiguous in the registers of its four lanes.
static void load_rows_of_halves(Warp *w, const Fragment *f, int first, const ChunkAccess *row, const Access *access)
{
    for (uint32_t rest = row->mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        memcpy(w->registers + f->register_offsets[first + l / CORE_SIZE] + l % CORE_SIZE * ROW_BYTES, access->pointer[l], ROW_BYTES);
    }
}

// Fills the registers beyond those of the chunks, which are copies.
static void repeat_registers(Warp *w, const Fragment *f)
{
    const int distinct = f->chunks * sim_registers_per_chunk(f);
    for (int number = distinct; number < f->registers; number++)
        memcpy(w->registers + f->register_offsets[number], w->registers + f->register_offsets[number % distinct], LANES * f->register_bytes);
}

// Loads as ldmatrix does: up to four 8x8 matrices at a time, each row of 16 bytes addressed by one lane.
static void load_by_rows(Warp *w, const Instr *i, const MemoryMatrix *p)
{
    const MatrixOperation *m = i->matrix;
    const int max_matrices = m->d.bytes == 2 ? 4 : 2;
    const bool copies_rows = m->lines_contiguous && m->d.bytes == 2;
    Tile tile;
    for (int first = 0; first < m->d.chunks; first += max_matrices) {
        const int remaining = m->d.chunks - first, matrices = remaining < max_matrices ? remaining : max_matrices;
        ChunkAccess row = {.mask = lanes_of_rows(matrices), .elements = ROW_BYTES / m->d.bytes};
        for (int l = 0; l < LANES; l++) {
            row.from[l] = sim_origin_of(&m->d, first + l / CORE_SIZE % matrices);
            *(m->lines_contiguous ? &row.from[l].line : &row.from[l].position) += l % CORE_SIZE;
        }
        if (copies_rows) {
            const Access access = translate_chunk(w, i, p, &row, ACCESS_READ);
            load_rows_of_halves(w, &m->d, first, &row, &access);
        } else {
            transfer_elements(w, i, p, &row, &tile, ACCESS_READ);
        }
    }
    if (copies_rows)
        repeat_registers(w, &m->d);
    else
        sim_pack_tile(w, &m->d, &tile);
}

// Loads or stores a contiguous chunk of each lane.
static void transfer_chunk(Warp *w, const Fragment *f, int number, const Access *access)
{
    const int registers_per_chunk = sim_registers_per_chunk(f), bytes = f->register_bytes;
    for (int k = 0; k < registers_per_chunk; k++) {
        uint8_t *registers = w->registers + f->register_offsets[number * registers_per_chunk + k];
        for (int l = 0; l < LANES; l++) {
            uint8_t *memory = access->pointer[l] + k * bytes, *in_register = registers + l * bytes;
            if (access->kind == ACCESS_READ)
                sim_write_bytes(in_register, sim_read_bytes(memory, bytes), bytes);
            else
                sim_write_bytes(memory, sim_read_bytes(in_register, bytes), bytes);
        }
    }
}

// Loads or stores a fragment. Contiguous chunks take one access each. Otherwise 16-bit numbers are accessed by chunks of the
// transposed matrix, as if movmatrix followed, and other types element by element.
static void transfer_chunks(Warp *w, const Instr *i, const MemoryMatrix *p, Tile *tile, AccessKind kind)
{
    const MatrixOperation *m = i->matrix;
    const bool transposed = !m->lines_contiguous && m->d.bytes == 2;
    const int accesses = m->lines_contiguous || transposed ? 1 : m->d.chunk_elements;
    for (int number = 0; number < m->d.chunks; number++)
        for (int k = 0; k < accesses; k++) {
            ChunkAccess chunk = {.mask = ALL_LANES, .elements = m->d.chunk_elements / accesses};
            const Origin origin = sim_origin_of(&m->d, number);
            for (int l = 0; l < LANES; l++) {
                const int offset_in_line = l % 4 * m->d.chunk_elements, line = transposed ? offset_in_line : l / 4;
                const int position = transposed ? l / 4 : offset_in_line;
                chunk.from[l] = (Origin){origin.line + line, origin.position + position + k};
            }
            if (m->lines_contiguous) {
                const Access access = translate_chunk(w, i, p, &chunk, kind);
                transfer_chunk(w, &m->d, number, &access);
            } else {
                transfer_elements(w, i, p, &chunk, tile, kind);
            }
        }
}

static void load_wmma(Warp *w, const Instr *i)
{
    const MatrixOperation *m = i->matrix;
    const MemoryMatrix p = find_matrix(w, i);
    Tile tile;
    if (m->uses_ldmatrix) {
        load_by_rows(w, i, &p);
        return;
    }
    transfer_chunks(w, i, &p, &tile, ACCESS_READ);
    if (m->lines_contiguous)
        repeat_registers(w, &m->d);
    else
        sim_pack_tile(w, &m->d, &tile);
}

static void store_wmma(Warp *w, const Instr *i)
{
    const MatrixOperation *m = i->matrix;
    const MemoryMatrix p = find_matrix(w, i);
    Tile tile;
    if (!m->lines_contiguous)
        sim_unpack_tile(w, &m->d, &tile);
    transfer_chunks(w, i, &p, &tile, ACCESS_WRITE);
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

// Copies between registers and rows. Lane l holds elements 2 (l % 4) and 2 (l % 4) + 1 of row l / 4 or, if transposed, of
// column l / 4.
static void transfer_rows(Warp *w, const Fragment *f, bool transposed, Rows rows, bool to_registers)
{
    for (int k = 0; k < f->registers; k++)
        for (int l = 0; l < LANES; l++) {
            uint16_t *in_register = (uint16_t *)(w->registers + f->register_offsets[k]) + 2 * l;
            for (int half = 0; half < 2; half++) {
                const int offset_in_line = l % 4 * 2 + half, row = CORE_SIZE * k + (transposed ? offset_in_line : l / 4);
                uint16_t *number = &rows[row][transposed ? l / 4 : offset_in_line];
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
    transfer_rows(w, &i->matrix->d, i->matrix->transposed, rows, true);
}

static void store_rows(Warp *w, const Instr *i)
{
    Rows rows;
    const Access access = access_rows(w, i, ACCESS_WRITE);
    transfer_rows(w, &i->matrix->d, i->matrix->transposed, rows, false);
    for (int l = 0; l < CORE_SIZE * i->matrix->d.registers; l++)
        for (int k = 0; k < CORE_SIZE; k++)
            sim_write_bytes(access.pointer[l] + 2 * k, rows[l][k], 2);
}

void sim_transpose_matrix(Warp *w, const Instr *i, uint32_t mask)
{
    Rows rows;
    sim_require_all_lanes(w, i, mask);
    transfer_rows(w, &i->matrix->a, false, rows, false);
    transfer_rows(w, &i->matrix->d, true, rows, true);
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
